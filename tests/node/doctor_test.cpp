#include "node/doctor.h"

#include <fstream>

#include "comm/identity.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace shoal::tests {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using node::Finding;

/// Port 0 and the synthetic data set: nothing depends on the machine.
node::Config config_with(const TempFolder& home, std::vector<std::string> settings) {
  settings.insert(settings.begin(),
                  {"data.name=synthetic", "model.layers=[16, 8, 4]", "swarm.port=0",
                   "device.name=cpu", "run_dir=" + (home.path() / "runs").string()});
  auto config = node::parse_config(node::full_schema(), "", "", {{}, {}, settings});
  INFO((config.ok() ? "" : config.error().message));
  REQUIRE(config.ok());
  return std::move(config).value();
}

const Finding& find(const std::vector<Finding>& findings, const std::string& what) {
  for (const auto& finding : findings) {
    if (finding.what == what) {
      return finding;
    }
  }
  FAIL("no finding about " << what);
  return findings.front();
}

TEST_CASE("doctor finds nothing wrong where nothing is, and changes nothing") {
  const TempFolder home;
  const auto findings = node::examine(config_with(home, {}), home.path());
  for (const auto& finding : findings) {
    INFO(finding.what << ": " << finding.sentence);
    CHECK(finding.grade != Finding::Grade::kProblem);
  }
  CHECK(node::exit_code_of(findings) == 0);
  CHECK(fs::is_empty(home.path()));
  CHECK_THAT(find(findings, "plan").sentence, Contains("synthetic"));
}

TEST_CASE("doctor tells each problem apart, with a remedy and its exit code") {
  const TempFolder home;
  const auto data = node::examine(
      config_with(home,
                  {"data.name=fashion-mnist", "data.path=/nowhere", "model.layers=[784, 10]"}),
      home.path());
  CHECK(find(data, "data set").grade == Finding::Grade::kProblem);
  CHECK_THAT(find(data, "data set").sentence, Contains("apt-get install dataset-fashion-mnist"));
  CHECK(node::exit_code_of(data) == 3);

  const auto layers = node::examine(config_with(home, {"model.layers=[17, 4]"}), home.path());
  CHECK(find(layers, "plan").grade == Finding::Grade::kProblem);
  CHECK(node::exit_code_of(layers) == 2);

  const auto memory = node::examine(config_with(home, {"limits.memory=1MiB"}), home.path());
  CHECK(find(memory, "memory").grade == Finding::Grade::kProblem);
  CHECK_THAT(find(memory, "memory").remedy, Contains("limits.memory"));
  CHECK(node::exit_code_of(memory) == 5);

  const auto disk = node::examine(config_with(home, {"run_dir=/proc/nowhere"}), home.path());
  CHECK(find(disk, "disk").grade == Finding::Grade::kProblem);

  const auto threads = node::examine(config_with(home, {"device.blas_threads=1024"}), home.path());
  CHECK(find(threads, "processor").grade == Finding::Grade::kNote);
  CHECK(node::exit_code_of(threads) == 0);
}

TEST_CASE("doctor sees a key that others may read") {
  const TempFolder home;
  REQUIRE(comm::Identity::load_or_create(home.path()).ok());
  const auto config = config_with(home, {});
  CHECK_THAT(find(node::examine(config, home.path()), "key").sentence, Contains("this peer is"));
  fs::permissions(home.path() / "identity.key", fs::perms::group_read, fs::perm_options::add);
  const auto open = node::examine(config, home.path());
  CHECK(find(open, "key").grade == Finding::Grade::kProblem);
  CHECK_THAT(find(open, "key").sentence, Contains("chmod 600"));
  CHECK(node::exit_code_of(open) == 2);
}

}  // namespace
}  // namespace shoal::tests
