// Training steps on one CPU beside PyTorch's, in one run: forward, backward, SGD with momentum.
// Both sides are pinned to the same CPU with one thread and take turns; medians of the time that
// the process had the CPU are compared, so that a busy machine does not decide.
// Exit: 0 when every ratio is met, 1 when one is not, 2 for usage or without PyTorch.
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/nets.h"

namespace shoal::bench {
namespace {

using Seconds = std::vector<double>;

double median(Seconds values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// The child that runs steps_torch.py. It is asked a line and answers a line.
class Torch {
 public:
  Torch() {
    int ask[2];
    int answer[2];
    if (pipe(ask) != 0 || pipe(answer) != 0) {
      return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ask[0], 0);
    posix_spawn_file_actions_adddup2(&actions, answer[1], 1);
    for (const int end : {ask[0], ask[1], answer[0], answer[1]}) {
      posix_spawn_file_actions_addclose(&actions, end);
    }
    const char* named = std::getenv("SHOAL_PYTHON");
    std::string python = named == nullptr ? "/usr/bin/python3" : named;
    std::string script = SHOAL_SOURCE_DIR "/tests/bench/steps_torch.py";
    char* arguments[] = {python.data(), script.data(), nullptr};
    posix_spawn(&child_, python.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ask[0]);
    close(answer[1]);
    to_ = fdopen(ask[1], "w");
    from_ = fdopen(answer[0], "r");
    const auto version = read();
    version_ = version.is_string() ? version.get<std::string>() : std::string();
  }
  Torch(const Torch&) = delete;
  Torch& operator=(const Torch&) = delete;
  ~Torch() {
    std::fclose(to_);
    std::fclose(from_);
    int status = 0;
    waitpid(child_, &status, 0);
  }

  /// Empty: it did not start.
  [[nodiscard]] const std::string& version() const { return version_; }

  Seconds run(const std::string& name, std::size_t steps) {
    std::fprintf(to_, "%s %zu\n", name.c_str(), steps);
    std::fflush(to_);
    const auto answer = read();
    return answer.is_array() ? answer.get<Seconds>() : Seconds();
  }

 private:
  nlohmann::json read() {
    std::string line;
    for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_)) {
      line.push_back(static_cast<char>(c));
    }
    return nlohmann::json::parse(line, nullptr, false);
  }

  pid_t child_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string version_;
};

/// Part of PyTorch's time that each net may take, and its steps in one turn.
struct Goal {
  double reach;
  std::size_t steps;
};
const std::map<std::string, Goal> kGoals = {{"mlp", {0.5, 40}},       {"lenet5", {0.6, 8}},
                                            {"cnn", {0.75, 2}},       {"char_lstm", {0.4, 1}},
                                            {"gpt_small", {0.65, 1}}, {"gpt", {0.8, 1}}};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Seconds run(const Step& step, std::size_t steps) {
  Seconds seconds;
  for (std::size_t i = 0; i < steps; ++i) {
    const double begin = cpu_seconds();
    step();
    seconds.push_back(cpu_seconds() - begin);
  }
  return seconds;
}

struct Question {
  bool json = false;
  std::string only;
  std::size_t turns = 15;
};

Question parse(int argc, char** argv) {
  Question question;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      question.json = true;
    } else if (argument == "--row" && i + 1 < argc) {
      question.only = argv[++i];
    } else if (argument == "--turns" && i + 1 < argc) {
      question.turns = std::strtoul(argv[++i], nullptr, 10);
    } else {
      give_up("usage: bench_steps [--json] [--row NAME] [--turns N]");
    }
  }
  return question;
}

/// Both sides in turn; true when the ratio is met.
bool compare(const Net& row, const Question& question, ops::Backend& backend, Torch& torch) {
  const Goal goal = kGoals.at(row.name);
  const Step step = row.make(backend);
  run(step, 2);
  torch.run(row.name, 2);
  Seconds ours;
  Seconds theirs;
  for (std::size_t turn = 0; turn < question.turns; ++turn) {
    const Seconds a = run(step, goal.steps);
    const Seconds b = torch.run(row.name, goal.steps);
    ours.insert(ours.end(), a.begin(), a.end());
    theirs.insert(theirs.end(), b.begin(), b.end());
  }
  const double ratio = theirs.empty() ? 0 : median(ours) / median(theirs);
  const bool met = !theirs.empty() && ratio <= goal.reach;
  if (question.json) {
    const nlohmann::json line = {{"row", row.name},
                                 {"ours_ms", 1e3 * median(ours)},
                                 {"torch_ms", 1e3 * median(theirs)},
                                 {"ratio", ratio},
                                 {"to_reach", goal.reach},
                                 {"met", met},
                                 {"torch", torch.version()}};
    std::printf("%s\n", line.dump().c_str());
  } else {
    std::printf("%-40s %10.3f %10.3f %7.3f %9.2f  %s\n", row.text.c_str(), 1e3 * median(ours),
                1e3 * median(theirs), ratio, goal.reach, met ? "met" : "NOT MET");
  }
  std::fflush(stdout);
  return met;
}

int compare_all(int argc, char** argv) {
  const Question question = parse(argc, argv);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(sched_getcpu(), 0)), &one);
  sched_setaffinity(0, sizeof one, &one);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  Torch torch;
  if (torch.version().empty()) {
    give_up(
        "PyTorch did not start; install python3-torch (apt-get install python3-torch), or name "
        "a Python that has it in SHOAL_PYTHON");
  }
  const auto backend = ops::make_cpu_backend(1);
  if (!question.json) {
    std::printf("%s against PyTorch %s\n%-40s %10s %10s %7s %9s\n", backend->description().c_str(),
                torch.version().c_str(), "training step, 1 CPU", "ours ms", "torch ms", "ratio",
                "to reach");
  }
  bool all = true;
  bool any = false;
  for (const Net& row : nets()) {
    if (question.only.empty() || question.only == row.name) {
      all = compare(row, question, *backend, torch) && all;
      any = true;
    }
  }
  if (!any) {
    give_up("there is no row \"" + question.only + "\"");
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) { return shoal::bench::compare_all(argc, argv); }
