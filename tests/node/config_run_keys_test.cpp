#include "node/config.h"
#include "tests/node/config_schema_support.h"
#include "tests/support/catch.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Config;

Config good(std::string_view text, const node::ConfigSources& sources = {}) {
  auto config = parse(text, sources);
  INFO((config.ok() ? std::string() : config.error().message));
  REQUIRE(config.ok());
  return std::move(config).value();
}

TEST_CASE("the run's keys are sorted lines of what all must share, and nothing else") {
  const Config config = good("[train]\nlr = 0.1\n[sync.local]\nperiod = 3\n");
  CHECK(config.run_keys() ==
        "compress.answer=fp32\ndata.mode=shared\ndata.name=fashion-mnist\ndata.partition=iid\n"
        "data.parts=0\nmodel.layers=[4, 2]\nmodel.name=mlp\nname=run\nrun.reproducible=false\n"
        "seed=1\nswarm.peers=4\nsync.name=allreduce\nsync.quorum=majority\n"
        "train.batch=64\ntrain.epochs=10\n"
        "train.lr=0.1\ntrain.momentum=0\ntrain.optimizer=sgd\ntrain.steps_max=0\n"
        "train.target_accuracy=0\ntrain.target_loss=0\n");
}

TEST_CASE("the parts of private data are as many as peers unless said, and part of the run") {
  const Config four = good("[data]\nmode = \"private\"\npart = 3\n");
  CHECK(four.get_int("data.parts") == 4);
  CHECK(four.find("data.parts")->origin.text() == "as swarm.peers");
  CHECK_THAT(four.run_keys(), Contains("data.parts=4\n"));
  CHECK(good("[data]\nmode = \"private\"\nparts = 9\n").get_int("data.parts") == 9);
}

TEST_CASE("the hash of the run's keys depends on values, not on where or how they are written") {
  const Config a = good("[train]\nlr = 0.25\nbatch = 32\n");
  const Config b = good("train.batch = 32\n", {{}, {{"SHOAL_TRAIN_LR", "0.2500"}}, {}});
  const Config peer =
      good("run_dir = \"x\"\n[train]\nlr = 0.25\nbatch = 32\n[limits]\ncores = 2\n");
  const Config other = good("[train]\nlr = 0.25\nbatch = 33\n");
  CHECK(a.run_keys_hash() == b.run_keys_hash());
  CHECK(a.run_keys_hash() == peer.run_keys_hash());
  CHECK(a.run_keys_hash() != other.run_keys_hash());
  // Computed once from this text; a change would cut off peers of the version before.
  CHECK(good("").run_keys_hash().hex() ==
        "f2d94334ef2e28ac26fa852959e1de340f5b0180b654fadef7f62112ecf17c04");
  CHECK(node::run_keys_difference(a.run_keys(), other.run_keys()) ==
        "train.batch: 32 here, 33 there\n");
}

TEST_CASE("a joiner takes the run's keys and keeps its own") {
  const Config run = good(
      "seed = 9\n[train]\nbatch = 32\n[sync]\nname = \"local\"\nperiod = 5\n"
      "[compress]\ncodec = \"top-k\"\n[data]\nparts = 8\n");
  Config joiner = good(
      "run_dir = \"mine\"\n[train]\nbatch = 16\n[data]\npath = \"/here\"\n"
      "[compress]\ncodec = \"int8\"\n[swarm]\nannounce = [\"a:1\", \"b\"]\n");
  const auto sentences = joiner.apply_run_keys(run.run_keys());
  REQUIRE(sentences.ok());
  CHECK(joiner.run_keys() == run.run_keys());
  CHECK(joiner.run_keys_hash() == run.run_keys_hash());
  CHECK(joiner.get_int("sync.period") == 5);
  CHECK(joiner.get_string("run_dir") == "mine");
  CHECK(joiner.get_string("data.path") == "/here");
  CHECK(joiner.chosen("codec") == "int8");
  CHECK(joiner.chosen("answer") == "top-k");
  CHECK(joiner.get_strings("swarm.announce") == std::vector<std::string>{"a:1", "b"});
  REQUIRE(sentences->size() == 1);
  CHECK(sentences->front() == "train.batch = 16 (run.toml:3) is set aside: the run has 32");
  CHECK(joiner.find("train.batch")->origin.text() == "the run");
}

TEST_CASE("a peer's key of a plug-in that the run does not use is set aside") {
  const Config run = good("[data]\nname = \"synthetic\"\n");
  Config joiner = good("[data]\npath = \"/here\"\n");
  const auto sentences = joiner.apply_run_keys(run.run_keys());
  REQUIRE(sentences.ok());
  REQUIRE(sentences->size() == 1);
  CHECK_THAT(sentences->front(), Contains("data.path"));
  CHECK(joiner.chosen("data") == "synthetic");
}

TEST_CASE("run keys that no peer of this version would send are refused") {
  const std::string honest = good("").run_keys();
  const auto refused = [&](const std::string& text) {
    Config joiner = good("");
    const auto result = joiner.apply_run_keys(text);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kNetwork);
    CHECK(joiner.run_keys() == honest);  // nothing is half taken
    return result.error().message;
  };
  CHECK_THAT(refused(honest + "train.shoes=3\n"), Contains("train.shoes"));
  CHECK_THAT(refused(honest + "run_dir=/etc\n"), Contains("run_dir, which is a peer's own"));
  CHECK_THAT(refused(honest + "data.path=/etc\n"), Contains("data.path"));
  CHECK_THAT(refused(honest.substr(0, honest.rfind("train.target_loss"))), Contains("lack"));
  CHECK_THAT(refused("nonsense\n"), Contains("no key"));
  CHECK_THAT(refused(honest + "seed=2\n"), Contains("twice"));
  CHECK_THAT(refused(std::string(100'000, 'a')), Contains("64 KiB"));
  std::string bad_name = honest;
  bad_name.replace(bad_name.find("name=run\nrun"), 8, "name=../..");
  CHECK_THAT(refused(bad_name), Contains("name is"));
}

}  // namespace
}  // namespace shoal::tests
