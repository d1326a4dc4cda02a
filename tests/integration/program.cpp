#include "tests/integration/program.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>

#include "node/files.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"(
[model]
layers = [16, 64, 4]
[data]
name = "synthetic"
train_samples = 8192
test_samples = 512
noise = 1.0
[train]
batch = 48
epochs = 4
lr = 0.02
momentum = 0.9
[compress]
codec = "int8"
[swarm]
peers = 3
[device]
name = "cpu"
[output]
metrics_every = "100ms"
)";

std::string quoted(const std::string& word) { return "'" + word + "'"; }  // no quotes within

}  // namespace

Workshop::Workshop() { REQUIRE(write_file(path() / "run.toml", kConfig).ok()); }

Child Workshop::start(const std::vector<std::string>& words, const std::string& said,
                      const std::string& home) const {
  std::string command = "cd " + quoted(path().string()) +
                        " && SHOAL_HOME=" + quoted((path() / home).string()) + " exec " +
                        quoted(SHOAL_PROGRAM);
  for (const std::string& word : words) {
    command += " " + quoted(word);
  }
  command += " >>" + quoted(said) + " 2>&1";
  auto child = Child::start("/bin/sh", {"-c", command});
  REQUIRE(child.ok());
  return std::move(*child);
}

int Workshop::run(const std::vector<std::string>& words, const std::string& said,
                  const std::string& home) const {
  Child child = start(words, said, home);
  const int code = end_of(child);
  INFO(text(said));
  CHECK(code >= 0);
  return code;
}

std::string Workshop::text(const std::string& file) const {
  std::ifstream in(path() / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

nlohmann::json Workshop::summary(const std::string& run) const {
  return nlohmann::json::parse(text("runs/" + run + "/summary.json"), nullptr, false);
}

std::vector<std::string> Workshop::up(const std::vector<std::string>& settings) const {
  std::vector<std::string> words = {"up", "run.toml"};
  for (const std::string& setting : settings) {
    words.emplace_back("--set");
    words.push_back(setting);
  }
  return words;
}

std::size_t Workshop::checkpoints(const std::string& run) const {
  std::error_code error;
  const auto folder = fs::directory_iterator(path() / "runs" / run / "checkpoints", error);
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

std::size_t Workshop::temporaries() const {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path())) {
    count += is_temporary(entry.path()) ? 1 : 0;
  }
  return count;
}

void wait_for(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  bool came = done();
  while (!came && std::chrono::steady_clock::now() < end) {
    ::usleep(20'000);
    came = done();
  }
  REQUIRE(came);
}

int end_of(Child& child) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!child.ended().has_value() && std::chrono::steady_clock::now() < end) {
    ::usleep(20'000);
  }
  REQUIRE(child.ended().has_value());
  return *child.ended();
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::ifstream in("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t pid = 0; in >> pid;) {
    children.push_back(pid);
  }
  return children;
}

bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

}  // namespace shoal::node::tests
