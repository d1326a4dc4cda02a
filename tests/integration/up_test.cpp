// The program itself, as people run it: real processes, real sockets, real files.
#include <signal.h>
#include <unistd.h>

#include "node/files.h"
#include "tests/integration/program.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

bool has_metrics(const Workshop& shop, const std::string& run) {
  std::error_code error;
  for (const auto& e : std::filesystem::directory_iterator(shop.path() / "runs" / run, error)) {
    if (e.path().filename().string().rfind("peer-", 0) == 0 &&
        std::filesystem::exists(e.path() / "metrics.jsonl", error)) {
      return true;
    }
  }
  return false;
}

void require_done(const nlohmann::json& summary, std::size_t done) {
  INFO(summary.dump(1));
  REQUIRE(summary.is_object());
  CHECK(summary["status"] == "done");
  std::size_t count = 0;
  for (const auto& peer : summary["per_peer"]) {
    if (peer["status"] == "done") {
      ++count;
      CHECK(peer["parameter_hash"] == summary["parameter_hash"]);
    }
  }
  CHECK(count == done);
}

}  // namespace

TEST_CASE("up: three peers train to the end and leave a whole run folder", "[zmq]") {
  const Workshop shop;
  REQUIRE(shop.run(shop.up({}), "said") == 0);
  const auto summary = shop.summary("run");
  require_done(summary, 3);
  for (const char* key :
       {"schema", "name", "status", "peers", "wall_s", "virtual_s", "steps", "rounds", "samples",
        "train_loss", "test_loss", "test_accuracy", "bytes_sent", "bytes_received",
        "target_reached_s", "parameter_hash", "per_peer"}) {
    INFO(key);
    CHECK(summary.contains(key));
  }
  CHECK(summary["samples"] == 4 * 8192);
  CHECK(summary["test_accuracy"] > 0.8);
  CHECK(summary["bytes_sent"] > 0);
  CHECK(shop.temporaries() == 0);
  CHECK(has_metrics(shop, "run"));

  REQUIRE(shop.run({"eval", "runs/run", "--json"}, "judged") == 0);
  const auto judged = nlohmann::json::parse(shop.text("judged"));
  CHECK(judged["test_accuracy"] == summary["test_accuracy"]);
}

TEST_CASE("up: a peer killed in the middle costs the others nothing", "[zmq]") {
  const Workshop shop;
  Child up = shop.start(shop.up({"train.epochs=12"}), "said");
  wait_for([&] { return has_metrics(shop, "run"); });
  const auto peers = children_of(up.pid());
  REQUIRE(peers.size() == 3);
  ::kill(peers[1], SIGKILL);
  REQUIRE(end_of(up) == 0);
  const auto summary = shop.summary("run");
  require_done(summary, 2);
  CHECK(summary["samples"] == 12 * 8192);
  CHECK_THAT(shop.text("said"), Contains("was killed"));
}

TEST_CASE("up: all killed and resumed ends as if nothing had been", "[zmq]") {
  const Workshop shop;
  const std::vector<std::string> settings = {"train.epochs=30", "run.reproducible=true",
                                             "checkpoint.every=200ms"};
  Child up = shop.start(shop.up(settings), "said");
  wait_for([&] { return shop.checkpoints("run") >= 2; });
  const auto peers = children_of(up.pid());
  ::kill(up.pid(), SIGKILL);
  end_of(up);
  wait_for([&] {  // they go with their parent
    return std::none_of(peers.begin(), peers.end(), lives);
  });
  auto resume = shop.up(settings);
  resume.emplace_back("--resume");
  REQUIRE(shop.run(resume, "said") == 0);
  const auto resumed = shop.summary("run");
  require_done(resumed, 3);
  CHECK(resumed["first_round"] > 1);

  auto again = settings;
  again.emplace_back("name=undisturbed");
  auto changed = shop.up(again);
  REQUIRE(shop.run(changed, "said") == 0);
  CHECK(shop.summary("undisturbed")["parameter_hash"] == resumed["parameter_hash"]);
}

TEST_CASE("up: an interrupt leaves a checkpoint that resumes, and nothing else", "[zmq]") {
  const Workshop shop;
  Child up = shop.start(shop.up({"train.epochs=200"}), "said");
  wait_for([&] { return has_metrics(shop, "run"); });
  const auto peers = children_of(up.pid());
  ::kill(up.pid(), SIGINT);
  REQUIRE(end_of(up) == 0);
  CHECK(std::none_of(peers.begin(), peers.end(), lives));
  CHECK(shop.temporaries() == 0);
  const auto stopped = shop.summary("run");
  CHECK(stopped["status"] == "stopped");
  CHECK(shop.checkpoints("run") >= 1);

  auto resume = shop.up({"train.epochs=200"});
  resume.emplace_back("--resume");
  Child resumed = shop.start(resume, "said again");
  wait_for([&] {
    return shop.text("said again")
               .find("going on from round " + std::to_string(stopped["rounds"].get<int>())) !=
           std::string::npos;
  });
  ::usleep(500'000);
  ::kill(resumed.pid(), SIGINT);
  CHECK(end_of(resumed) == 0);
}

TEST_CASE("up: an interrupt while it starts is no failure", "[zmq]") {
  const Workshop shop;
  Child up = shop.start(shop.up({"train.epochs=1000"}), "said");
  wait_for([&] { return children_of(up.pid()).size() == 3; });
  const auto peers = children_of(up.pid());
  ::kill(up.pid(), SIGINT);
  CHECK(end_of(up) == 0);
  CHECK(std::none_of(peers.begin(), peers.end(), lives));
  CHECK(shop.text("said").find("error") == std::string::npos);
}

TEST_CASE("up: what a minority has left can be resumed", "[zmq]") {
  const Workshop shop;
  Child up = shop.start(shop.up({"train.epochs=200"}), "said");
  wait_for([&] { return has_metrics(shop, "run"); });
  ::kill(up.pid(), SIGINT);
  REQUIRE(end_of(up) == 0);
  std::vector<std::filesystem::path> own;  // of the newest round, the only one
  for (const auto& file : std::filesystem::recursive_directory_iterator(shop.path() / "runs" /
                                                                        "run" / "checkpoints")) {
    if (file.path().filename().string().rfind("peer-", 0) == 0) {
      own.push_back(file.path());
    }
  }
  REQUIRE(own.size() == 3);
  std::filesystem::remove(own[0]);
  std::filesystem::remove(own[1]);
  auto resume = shop.up({"train.epochs=200"});
  resume.emplace_back("--resume");
  Child resumed = shop.start(resume, "said again");
  wait_for([&] { return shop.text("said again").find("going on from") != std::string::npos; });
  ::usleep(500'000);
  ::kill(resumed.pid(), SIGINT);
  CHECK(end_of(resumed) == 0);
  CHECK(shop.summary("run")["first_round"] != 1);
}

TEST_CASE("up and join: the line that one prints lets the other in", "[zmq]") {
  const Workshop shop;
  auto words = shop.up({"swarm.peers=2", "swarm.port=0"});
  words.insert(words.end(), {"--peers", "1"});
  Child up = shop.start(words, "said");
  wait_for([&] { return shop.text("said").find("shoal join shoal1") != std::string::npos; });
  const std::string said = shop.text("said");
  const std::size_t at = said.find("shoal1");
  const std::string token = said.substr(at, said.find('\n', at) - at);

  std::string altered = token;
  altered[60] = altered[60] == '4' ? '5' : '4';
  CHECK(shop.run({"join", altered, "--yes"}, "altered") == 4);
  CHECK_THAT(shop.text("altered"), Contains("changed or cut short"));

  REQUIRE(shop.run({"join", token, "--yes", "--set", "run_dir=elsewhere"}, "joined") == 0);
  CHECK_THAT(shop.text("joined"), Contains("will cost this machine"));
  CHECK(end_of(up) == 0);
  require_done(shop.summary("run"), 1);
  const auto joined = nlohmann::json::parse(shop.text("elsewhere/run/summary.json"));
  CHECK(joined["parameter_hash"] == shop.summary("run")["parameter_hash"]);
  CHECK(joined["samples"] == 4 * 8192);

  CHECK(shop.run({"join", token, "--yes"}, "gone") == 4);
  CHECK_THAT(shop.text("gone"), Contains("does not answer"));
}

TEST_CASE("join: peers that know each other need no invitation", "[zmq]") {
  const Workshop shop;
  const auto key_of = [&](const std::string& home) {
    REQUIRE(shop.run({"keygen", "--json"}, "key-" + home, home) == 0);
    const std::string said = shop.text("key-" + home);
    return nlohmann::json::parse(said.substr(said.find('{')))["id"].get<std::string>();
  };
  std::string home_a = "one";  // whose key is the smaller: it makes the run
  std::string home_b = "two";
  std::string a = key_of(home_a);
  std::string b = key_of(home_b);
  if (b < a) {
    std::swap(a, b);
    std::swap(home_a, home_b);
  }
  // Ports of this test alone: a roster names them before anybody listens.
  const std::string base = std::to_string(20000 + ::getpid() % 20000);
  const std::string next = std::to_string(20001 + ::getpid() % 20000);
  const std::string roster =
      "swarm.roster=[\"" + a + "@127.0.0.1:" + base + "\", \"" + b + "@127.0.0.1:" + next + "\"]";
  const auto words = [&](const std::string& port, const std::string& own) {
    return std::vector<std::string>{"join",
                                    "run.toml",
                                    "--yes",
                                    "--set",
                                    roster,
                                    "--set",
                                    "swarm.peers=2",
                                    "--set",
                                    "swarm.listen=127.0.0.1",
                                    "--set",
                                    "swarm.port=" + port,
                                    "--set",
                                    "run_dir=" + own};
  };
  Child first = shop.start(words(base, "of-a"), "said-a", home_a);
  auto other = words(next, "of-c");
  other.insert(other.end(), {"--set", "train.lr=0.5"});
  CHECK(shop.run(other, "said-c", home_b) == 4);
  CHECK_THAT(shop.text("said-c"), Contains("keys"));

  CHECK(shop.run(words(next, "of-b"), "said-b", home_b) == 0);
  CHECK(end_of(first) == 0);
  const auto of_a = nlohmann::json::parse(shop.text("of-a/run/summary.json"));
  const auto of_b = nlohmann::json::parse(shop.text("of-b/run/summary.json"));
  require_done(of_a, 1);
  CHECK(of_a["parameter_hash"] == of_b["parameter_hash"]);
}

TEST_CASE("up: what is wrong is said, with its exit code", "[zmq]") {
  const Workshop shop;
  CHECK(shop.run(shop.up({"train.batchh=3"}), "key") == 2);
  CHECK_THAT(shop.text("key"), Contains("train.batch"));
  REQUIRE(write_file(shop.path() / "other.toml", "[data]\npath = \"/nowhere\"\n").ok());
  CHECK(shop.run({"up", "other.toml"}, "data") == 3);
  CHECK_THAT(shop.text("data"), Contains("/nowhere") && Contains("apt-get install"));
  auto resume = shop.up({"name=none"});
  resume.emplace_back("--resume");
  CHECK(shop.run(resume, "none") == 3);
  CHECK_THAT(shop.text("none"), Contains("without --resume"));
}

TEST_CASE("up: a damaged checkpoint is passed over for the one before", "[zmq]") {
  const Workshop shop;
  const std::vector<std::string> settings = {"train.epochs=30", "checkpoint.every=200ms"};
  REQUIRE(shop.run(shop.up(settings), "said") == 0);
  std::uint64_t newest = 0;
  for (const auto& e : std::filesystem::directory_iterator(shop.path() / "runs/run/checkpoints")) {
    newest = std::max<std::uint64_t>(newest, std::stoull(e.path().filename().string()));
  }
  std::filesystem::resize_file(
      shop.path() / "runs/run/checkpoints" / std::to_string(newest) / "shared.safetensors", 100);
  auto resume = shop.up(settings);
  resume.emplace_back("--resume");
  CHECK(shop.run(resume, "again") == 0);
  CHECK_THAT(shop.text("again"), Contains("round " + std::to_string(newest)));
  CHECK_THAT(shop.text("again"), Contains("damaged"));
  require_done(shop.summary("run"), 3);
}

}  // namespace shoal::node::tests
