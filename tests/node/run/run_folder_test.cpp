#include "node/run/run_folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {

TEST_CASE("run folder: numbered, found again, with keys in order that nobody else may read") {
  const shoal::tests::TempFolder base;
  const auto config =
      load_config(full_schema(), {std::nullopt, {}, {"name=x", "run_dir=" + base.path().string()}});
  REQUIRE(config.ok());
  CHECK(RunFolder::newest(*config).error().code == Code::kData);
  const auto first = RunFolder::create(*config);
  const auto second = RunFolder::create(*config);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first->path().filename() == "x");
  CHECK(second->path().filename() == "x-2");
  const auto newest = RunFolder::newest(*config);
  REQUIRE(newest.ok());
  CHECK(newest->path() == second->path());

  const auto made = first->identities(4);
  const auto again = first->identities(4);
  REQUIRE(made.ok());
  REQUIRE(again.ok());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK((*made)[i].id() == (*again)[i].id());
    struct stat status = {};
    REQUIRE(::stat((first->keys(i) / "identity.key").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
  }
  CHECK(std::is_sorted(made->begin(), made->end(),
                       [](const auto& a, const auto& b) { return a.id() < b.id(); }));
  CHECK_FALSE(first->identities(5).ok());
}

TEST_CASE("run folder: runs of one name that begin at once have a folder each") {
  const shoal::tests::TempFolder base;
  const auto config =
      load_config(full_schema(), {std::nullopt, {}, {"name=x", "run_dir=" + base.path().string()}});
  REQUIRE(config.ok());
  constexpr int kProcesses = 4;
  constexpr int kEach = 50;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      bool ok = true;
      for (int j = 0; j < kEach; ++j) {
        ok = RunFolder::create(*config).ok() && ok;
      }
      ::raise(ok ? SIGKILL : SIGTERM);  // not into the tests that follow
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WTERMSIG(status) == SIGKILL);
  }
  const auto folders = std::filesystem::directory_iterator(base.path());
  CHECK(std::distance(begin(folders), end(folders)) == kProcesses * kEach);
}

}  // namespace shoal::node::tests
