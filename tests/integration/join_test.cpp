// Peers that are machines of their own: a home, a port and a run folder each.
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "node/files.h"
#include "tests/integration/program.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

/// Three machines that know each other's keys and ports.
class Machines {
 public:
  Machines() {
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::string home = "home-" + std::to_string(i);
      REQUIRE(shop.run({"keygen", "--json"}, "key-" + home, home) == 0);
      const std::string said = shop.text("key-" + home);
      const auto id = nlohmann::json::parse(said.substr(said.find('{')))["id"];
      keys_.emplace_back(id.get<std::string>(), home);
    }
    std::sort(keys_.begin(), keys_.end());
    for (std::size_t i = 0; i < kCount; ++i) {
      roster_ += (i == 0 ? "" : ", ") + ("\"" + keys_[i].first + "@127.0.0.1:" + port(i) + "\"");
    }
  }

  [[nodiscard]] Child join(std::size_t i, const std::string& name, bool resume) const {
    std::vector<std::string> words = {"join", "run.toml", "--yes"};
    for (const std::string& setting :
         {"swarm.roster=[" + roster_ + "]", std::string("swarm.listen=127.0.0.1"),
          "swarm.port=" + port(i), "run_dir=of-" + std::to_string(i), "name=" + name,
          std::string("train.epochs=30"), std::string("run.reproducible=true"),
          std::string("checkpoint.every=300ms")}) {
      words.insert(words.end(), {"--set", setting});
    }
    if (resume) {
      words.emplace_back("--resume");
    }
    return shop.start(words, said(i, name, resume), keys_[i].second);
  }

  [[nodiscard]] std::vector<Child> join_all(const std::string& name, bool resume) const {
    std::vector<Child> all;
    for (std::size_t i = 0; i < kCount; ++i) {
      all.push_back(join(i, name, resume));
    }
    return all;
  }

  /// Ends of a run that all came through.
  [[nodiscard]] nlohmann::json finish(std::vector<Child>& peers, const std::string& name,
                                      bool resume) const {
    nlohmann::json first;
    for (std::size_t i = 0; i < kCount; ++i) {
      const int code = end_of(peers[i]);
      INFO(shop.text(said(i, name, resume)));
      REQUIRE(code == 0);
      const auto summary = nlohmann::json::parse(
          shop.text("of-" + std::to_string(i) + "/" + name + "/summary.json"));
      CHECK(summary["status"] == "done");
      first = first.is_null() ? summary : first;
      CHECK(summary["parameter_hash"] == first["parameter_hash"]);
    }
    return first;
  }

  /// The file of what a peer says.
  static std::string said(std::size_t i, const std::string& name, bool resume) {
    return name + (resume ? "-resumed-" : "-") + std::to_string(i);
  }
  /// All that was said, for a failure.
  [[nodiscard]] std::string all_said() const {
    std::string all;
    for (std::size_t i = 0; i < kCount; ++i) {
      all += shop.text(said(i, "undisturbed", false)) + shop.text(said(i, "run", false)) +
             shop.text(said(i, "run", true));
    }
    return all;
  }

  static constexpr std::size_t kCount = 3;
  Workshop shop;

 private:
  /// Ports of this test alone: a roster names them before anybody listens.
  static std::string port(std::size_t i) {
    return std::to_string(20000 + (static_cast<std::size_t>(::getpid()) * 3) % 20000 + i);
  }

  std::vector<std::pair<std::string, std::string>> keys_;  // key and home, in order of keys
  std::string roster_;
};

}  // namespace

TEST_CASE("join: machines that were all killed resume, and end as if nothing had been", "[zmq]") {
  const Machines machines;
  auto undisturbed = machines.join_all("undisturbed", false);
  const auto whole = machines.finish(undisturbed, "undisturbed", false);

  auto killed = machines.join_all("run", false);
  const auto checkpoints = [&](std::size_t i) {
    std::error_code error;
    const auto folder = std::filesystem::directory_iterator(
        machines.shop.path() / ("of-" + std::to_string(i)) / "run" / "checkpoints", error);
    return std::distance(begin(folder), end(folder));
  };
  wait_for([&] { return checkpoints(0) >= 2 && checkpoints(1) >= 2 && checkpoints(2) >= 2; });
  for (Child& child : killed) {
    child.send_signal(SIGKILL);
  }
  for (Child& child : killed) {
    child.wait();
  }
  auto resumed = machines.join_all("run", true);
  const auto end = machines.finish(resumed, "run", true);
  INFO(machines.all_said());
  CHECK(end["first_round"] > 1);
  CHECK(end["parameter_hash"] == whole["parameter_hash"]);
}

}  // namespace shoal::node::tests
