#include "tests/bench/steps/torch.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace shoal::bench {

Torch::Torch() {
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

Torch::~Torch() {
  if (to_ == nullptr) {
    return;
  }
  std::fclose(to_);
  std::fclose(from_);
  int status = 0;
  waitpid(child_, &status, 0);
}

std::vector<double> Torch::run(const std::string& name, std::size_t steps) {
  std::fprintf(to_, "%s %zu\n", name.c_str(), steps);
  std::fflush(to_);
  const auto answer = read();
  return answer.is_array() ? answer.get<std::vector<double>>() : std::vector<double>();
}

nlohmann::json Torch::read() {
  std::string line;
  for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_)) {
    line.push_back(static_cast<char>(c));
  }
  return nlohmann::json::parse(line, nullptr, false);
}

}  // namespace shoal::bench
