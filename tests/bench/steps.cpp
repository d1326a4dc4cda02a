// Training steps (forward, backward, SGD with momentum) in one table, two sides a row, which take
// turns; medians are compared.
// - One CPU beside PyTorch's: both sides pinned to the same CPU with one thread, by the time that
//   the process had the CPU, so that a busy machine does not decide.
// - Two threads beside one, and a step with data loading beside the step alone: by the time that
//   passed, which other work on the machine disturbs.
// Exit: 0 when every ratio is met, 1 when one is not, 2 for usage or without PyTorch.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tests/bench/steps/loading.h"
#include "tests/bench/steps/torch.h"
#include "tests/bench/steps/training.h"

namespace shoal::bench {
namespace {

using Seconds = std::vector<double>;
using Clock = double (*)();
using Side = std::function<Seconds()>;

double median(Seconds values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Seconds run(const Step& step, std::size_t steps, Clock clock) {
  Seconds seconds;
  for (std::size_t i = 0; i < steps; ++i) {
    const double begin = clock();
    step();
    seconds.push_back(clock() - begin);
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

/// The table, written row by row.
class Table {
 public:
  explicit Table(Question question) : question_(std::move(question)) {}

  [[nodiscard]] bool wants(const std::string& row) const {
    return question_.only.empty() || question_.only == row;
  }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool all_met() const { return all_met_; }
  /// Written above the first row that follows.
  void heading(const std::string& what, const char* this_side, const char* that_side) {
    char line[200];
    std::snprintf(line, sizeof line, "%-44s %10s %10s %7s %9s", what.c_str(), this_side, that_side,
                  "ratio", "to reach");
    heading_ = line;
  }

  /// Lets both sides run in turn and writes what came of it. A side is a turn's steps.
  void contest(const std::string& name, const std::string& text, double reach, const Side& ours,
               const Side& theirs, const std::string& beside) {
    any_ = true;
    ours();
    theirs();
    Seconds a;
    Seconds b;
    for (std::size_t turn = 0; turn < question_.turns; ++turn) {
      const Seconds of_ours = ours();
      const Seconds of_theirs = theirs();
      a.insert(a.end(), of_ours.begin(), of_ours.end());
      b.insert(b.end(), of_theirs.begin(), of_theirs.end());
    }
    const double ratio = b.empty() ? 0 : median(a) / median(b);
    const bool met = !b.empty() && ratio <= reach;
    all_met_ = all_met_ && met;
    if (question_.json) {
      const nlohmann::json line = {{"row", name},      {"ours_ms", 1e3 * median(a)},
                                   {"beside", beside}, {"beside_ms", 1e3 * median(b)},
                                   {"ratio", ratio},   {"to_reach", reach},
                                   {"met", met}};
      std::printf("%s\n", line.dump().c_str());
    } else {
      if (!heading_.empty()) {
        std::printf("\n%s\n", heading_.c_str());
        heading_.clear();
      }
      std::printf("%-44s %10.3f %10.3f %7.3f %9.2f  %s\n", text.c_str(), 1e3 * median(a),
                  1e3 * median(b), ratio, reach, met ? "met" : "NOT MET");
    }
    std::fflush(stdout);
  }

 private:
  Question question_;
  std::string heading_;
  bool any_ = false;
  bool all_met_ = true;
};

void against_torch(Table& table) {
  const auto wanted = [&](const Row& row) { return table.wants(row.name); };
  const auto all = rows();
  if (std::none_of(all.begin(), all.end(), wanted)) {
    return;
  }
  Torch torch;
  if (torch.version().empty()) {
    give_up(
        "PyTorch did not start; install python3-torch (apt-get install python3-torch), or name "
        "a Python that has it in SHOAL_PYTHON");
  }
  const auto backend = ops::make_cpu_backend(1);
  table.heading("one thread beside PyTorch " + torch.version(), "ours ms", "torch ms");
  for (const Row& row : all) {
    if (wanted(row)) {
      const Step step = row.make(*backend);
      table.contest(
          row.name, row.text, row.reach, [&] { return run(step, row.steps, &cpu_seconds); },
          [&] { return torch.run(row.name, row.steps); }, "torch " + torch.version());
    }
  }
}

/// A turn of a step whose backend has that many threads. OpenBLAS has one number of threads for the
/// whole process, and whoever makes a backend sets it.
Side turn(const Step& step, std::size_t steps, int threads) {
  return [&step, steps, threads] {
    ops::make_cpu_backend(threads);
    return run(step, steps, &wall_seconds);
  };
}

void two_threads(Table& table) {
  const auto one = ops::make_cpu_backend(1);
  const auto two = ops::make_cpu_backend(2);
  table.heading("two threads beside one", "two ms", "one ms");
  for (const Row& row : rows()) {
    if (const std::string name = row.name + "_two_threads"; table.wants(name)) {
      const Step with_two = row.make(*two);
      const Step with_one = row.make(*one);
      table.contest(name, row.text, 1.03, turn(with_two, row.steps, 2),
                    turn(with_one, row.steps, 1), "one thread");
    }
  }
}

void loading(Table& table) {
  const auto backend = ops::make_cpu_backend(1);
  table.heading("a step with data loading beside the step", "both ms", "step ms");
  for (const LoadingRow& row : loading_rows()) {
    if (table.wants(row.name)) {
      const auto [with_loading, alone] = row.make(*backend);
      table.contest(row.name, row.text, 1.02, turn(with_loading, row.steps, 1),
                    turn(alone, row.steps, 1), "step alone");
    }
  }
}

int compare_all(int argc, char** argv) {
  Table table(parse(argc, argv));
  cpu_set_t given;
  sched_getaffinity(0, sizeof given, &given);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(sched_getcpu(), 0)), &one);
  sched_setaffinity(0, sizeof one, &one);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  against_torch(table);
  sched_setaffinity(0, sizeof given, &given);
  if (CPU_COUNT(&given) > 1) {
    two_threads(table);
    loading(table);
  } else {
    std::fprintf(stderr, "bench_steps: one CPU only; nothing to say of two threads or loading\n");
  }
  if (!table.any()) {
    give_up("there is no such row");
  }
  return table.all_met() ? 0 : 1;
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) { return shoal::bench::compare_all(argc, argv); }
