#include "node/config.h"

#include "tests/node/config_schema_support.h"
#include "tests/support/catch.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using node::Config;
using node::Origin;

std::string error_of(std::string_view text, const node::ConfigSources& sources = {}) {
  const auto config = parse(text, sources);
  REQUIRE_FALSE(config.ok());
  CHECK(config.error().code == Code::kConfig);
  return config.error().message;
}

TEST_CASE("an unknown key names file, line and the nearest key") {
  CHECK(error_of("seed = 3\n[train]\nbacth = 5\n") ==
        "run.toml:3: unknown key train.bacth; did you mean train.batch?");
  CHECK(error_of("batch = 5\n") == "run.toml:1: unknown key batch; did you mean train.batch?");
  CHECK(error_of("[train]\nepoch = 5\n") ==
        "run.toml:2: unknown key train.epoch; did you mean train.epochs?");
  CHECK(error_of("\n[swarm]\npeeers = 2\n") ==
        "run.toml:3: unknown key swarm.peeers; did you mean swarm.peers?");
  CHECK_THAT(error_of("[train]\nzzzzzzzzzzz = 5\n"),
             StartsWith("run.toml:2: unknown key train.zzzzzzzzzzz; `shoal config show`"));
  CHECK(error_of("[tarin]\n") == "run.toml:1: unknown table [tarin]; did you mean [train]?");
  CHECK_THAT(error_of("", {{}, {}, {"train.bacth=5"}}),
             Contains("--set train.bacth=5: unknown key") && Contains("train.batch"));
}

TEST_CASE("a wrong type is refused with its place") {
  CHECK(error_of("[train]\nbatch = \"big\"\n") ==
        "run.toml:2: train.batch must be a whole number, not big");
  CHECK_THAT(error_of("[train]\nbatch = 1.5\n"), Contains("run.toml:2: train.batch must be"));
  CHECK_THAT(error_of("[train]\nbatch = [1, \"a\"]\n"),
             Contains("train.batch can't be a mixed list"));
  CHECK_THAT(error_of("[train]\nbatch = 2020-01-01\n"), Contains("can't be a date"));
  CHECK_THAT(error_of("[train.batch]\n"), Contains("train.batch is a key, not a table"));
  CHECK_THAT(error_of("[checkpoint]\nevery = 5\n"),
             Contains("checkpoint.every must be a duration"));
  CHECK_THAT(error_of("[model]\nlayers = [1.5]\n"), Contains("can't be a mixed list"));
  CHECK_THAT(error_of("[run]\nreproducible = 1\n"), Contains("must be true or false"));
  CHECK_THAT(error_of("[[train]]\nbatch = 1\n"), Contains("run.toml:1"));
}

TEST_CASE("an impossible value is refused with its place") {
  CHECK_THAT(error_of("[train]\n\nbatch = 0\n"),
             Contains("run.toml:3: train.batch must be at least 1"));
  CHECK_THAT(error_of("[swarm]\nport = 70000\n"), Contains("at most 65535"));
  CHECK_THAT(error_of("[train]\nlr = nan\n"), Contains("train.lr must be"));
  CHECK_THAT(error_of("[data]\nmode = \"privat\"\n"), Contains("did you mean \"private\"?"));
  CHECK_THAT(error_of("[model]\nname = \"mpl\"\n"), Contains("did you mean \"mlp\"?"));
  CHECK_THAT(error_of("[limits]\nrate_up = \"20 apples\"\n"),
             Contains("run.toml:2: limits.rate_up") && Contains("20Mbit/s"));
  CHECK_THAT(error_of("[limits]\nmemory = \"2Gbit\"\n"), Contains("limits.memory"));
  CHECK_THAT(error_of("[limits]\nhours = \"22-25\"\n"), Contains("limits.hours"));
  CHECK_THAT(error_of("name = \"../../etc\"\n"), Contains("run.toml:1: name is"));
  CHECK_THAT(error_of("run_dir = \"a\\nb\"\n"), Contains("printable"));
  CHECK_THAT(error_of("[data]\nmode = \"private\"\nparts = 3\npart = 3\n"),
             Contains("data.part is 3"));
  CHECK_THAT(error_of("[compress]\ncodec = \"same\"\n"), Contains("no choice \"same\""));
}

TEST_CASE("addresses that nobody can dial are refused with their place") {
  CHECK_THAT(error_of("\n[swarm]\nlisten = \"foo\"\n"),
             StartsWith("run.toml:3: swarm.listen: \"foo\""));
  CHECK_THAT(error_of("[swarm]\nannounce = [\"a b:1\"]\n"),
             StartsWith("run.toml:2: swarm.announce"));
  CHECK_THAT(error_of("[swarm]\nroster = [\"a.b:1\"]\n"), StartsWith("run.toml:2: swarm.roster"));
  const auto config = parse("[swarm]\nlisten = \"::1\"\nannounce = [\"[::1]:4000\", \"a.b:1\"]\n");
  REQUIRE(config.ok());
  const auto again = parse(config->effective());
  REQUIRE(again.ok());
  CHECK(again->get_strings("swarm.announce") == std::vector<std::string>{"[::1]:4000", "a.b:1"});
}

TEST_CASE("what is no TOML is refused with its place") {
  CHECK_THAT(error_of("seed = 1\n[train\n"), StartsWith("run.toml:2: this is no TOML"));
  CHECK_THAT(error_of("seed = 1\nseed = 2\n"), StartsWith("run.toml:2: this is no TOML"));
  CHECK_THAT(error_of(std::string(2 << 20, ' ')), Contains("larger than 1 MiB"));
  CHECK_THAT(error_of("seed = \xff\n"), StartsWith("run.toml:1: this is no TOML"));
  std::string dotted;
  for (int i = 0; i < 50'000; ++i) {
    dotted += "a.";
  }
  for (const std::string& deep :
       {dotted + "a = 1\n", "[" + dotted + "a]\n", "x = {y = \"#\", " + dotted + "a = 1}\n",
        "# '\nx = 'a\\'\n" + dotted + "a = \"\"\n", "x = \"\"\"b\"\"\"\"\n" + dotted + "a = 1\n"}) {
    CHECK_THAT(error_of("seed = 1\n" + deep), Contains(": nested deeper than any configuration"));
  }
  CHECK_THAT(error_of("seed = 1\nx = " + std::string(100, '[')), StartsWith("run.toml:2: nested"));
  const std::string many = "........................................";
  CHECK(parse("# " + many + "\nname = \"a\"\nrun_dir = \"" + many + "\"\n").ok());
  const auto missing = node::load_config(test_schema(), {"no/such/file.toml", {}, {}});
  REQUIRE_FALSE(missing.ok());
  CHECK_THAT(missing.error().message, Contains("no/such/file.toml"));
  const auto endless = node::load_config(test_schema(), {"/dev/zero", {}, {}});
  REQUIRE_FALSE(endless.ok());
  CHECK_THAT(endless.error().message, Contains("larger than 1 MiB"));
}

TEST_CASE("a flag beats the environment, which beats the file, which beats the default") {
  const std::string text = "[train]\nbatch = 2\n";
  const std::map<std::string, std::string> variables = {{"SHOAL_TRAIN_BATCH", "3"}};
  const auto batch = [](const Result<Config>& config) {
    REQUIRE(config.ok());
    return std::pair(config->get_int("train.batch"), config->find("train.batch")->origin.text());
  };
  CHECK(batch(parse("")) == std::pair(std::int64_t{64}, std::string("default")));
  CHECK(batch(parse(text)) == std::pair(std::int64_t{2}, std::string("run.toml:2")));
  CHECK(batch(parse(text, {{}, variables, {}})) ==
        std::pair(std::int64_t{3}, std::string("SHOAL_TRAIN_BATCH")));
  CHECK(batch(parse(text, {{}, variables, {"train.batch=4", "train.batch=5"}})) ==
        std::pair(std::int64_t{5}, std::string("--set train.batch=5")));
}

TEST_CASE("variables that look like a key of ours and are none are refused") {
  CHECK_THAT(error_of("", {{}, {{"SHOAL_TRAIN_BACTH", "3"}}, {}}),
             Contains("SHOAL_TRAIN_BACTH") && Contains("did you mean SHOAL_TRAIN_BATCH?"));
  CHECK_THAT(error_of("", {{}, {{"SHOAL_TRAIN_BATCH", "x"}}, {}}),
             StartsWith("SHOAL_TRAIN_BATCH: train.batch must be"));
  CHECK(parse("", {{}, {{"SHOAL_HOME", "/x"}, {"SHOAL_LONG", "1"}}, {}}).ok());
  const auto top_k =
      parse("[compress]\ncodec = \"top-k\"\n", {{}, {{"SHOAL_COMPRESS_TOP_K_DENSITY", "0.5"}}, {}});
  REQUIRE(top_k.ok());
  CHECK(top_k->get_float("compress.density") == 0.5);
}

TEST_CASE("the keys of a plug-in stand in its kind's table or in a sub-table of its own") {
  const auto flat = parse("[sync]\nname = \"local\"\nperiod = 7\n");
  const auto own = parse("[sync]\nname = \"local\"\n[sync.local]\nperiod = 7\n");
  REQUIRE(flat.ok());
  REQUIRE(own.ok());
  CHECK(flat->plugin_options("sync").get_int("period") == 7);
  CHECK(flat->run_keys() == own->run_keys());

  const auto waiting = parse("[sync.local]\nperiod = 7\n");
  REQUIRE(waiting.ok());
  CHECK(waiting->chosen("sync") == "allreduce");
  CHECK(waiting->find("sync.period") == nullptr);
  CHECK_THAT(error_of("[sync.local]\nperiod = 0\n"),
             Contains("sync.local.period must be at least"));
  CHECK_THAT(
      error_of("[sync]\nperiod = 7\n"),
      Contains("sync.period is a key of sync.name = \"local\", but \"allreduce\" is chosen"));
  CHECK_THAT(error_of("[sync]\nname = \"local\"\nperiod = 7\n[sync.local]\nperiod = 8\n"),
             Contains("sync.period is said twice"));
  const auto later = parse("[sync.local]\nperiod = 7\n", {{}, {}, {"sync.name=local"}});
  REQUIRE(later.ok());
  CHECK(later->get_int("sync.period") == 7);
}

TEST_CASE("the answer's codec follows the sender's unless it is said") {
  const auto same = parse("[compress]\ncodec = \"top-k\"\ndensity = 0.25\n");
  REQUIRE(same.ok());
  CHECK(same->chosen("answer") == "top-k");
  CHECK(same->plugin_options("answer").get_float("density") == 0.25);
  CHECK(same->find("compress.answer")->origin.text() == "as compress.codec");
  CHECK(same->find("compress.answer")->scope == Scope::kRun);
  CHECK(same->find("compress.density")->scope == Scope::kPeer);
  CHECK(same->find("compress.answer_density")->scope == Scope::kRun);

  const auto own = parse("[compress]\ncodec = \"top-k\"\nanswer_density = 0.5\n");
  REQUIRE(own.ok());
  CHECK(own->plugin_options("answer").get_float("density") == 0.5);
  CHECK(own->plugin_options("codec").get_float("density") == 0.01);
  const auto other = parse("[compress]\ncodec = \"top-k\"\nanswer = \"int8\"\n");
  REQUIRE(other.ok());
  CHECK(other->chosen("answer") == "int8");
}

TEST_CASE("a whole number is a number, a string may be a duration, lists may be empty") {
  const auto config = parse(
      "[train]\nlr = 1\n[checkpoint]\nevery = \"250ms\"\n[swarm]\nannounce = []\n"
      "[limits]\nrate_up = \"20Mbit/s\"\nmemory = \"2GiB\"\n");
  REQUIRE(config.ok());
  CHECK(config->get_float("train.lr") == 1.0);
  CHECK(config->get_duration("checkpoint.every") == std::chrono::milliseconds(250));
  CHECK(config->get_strings("swarm.announce").empty());
  CHECK(config->get_rate("limits.rate_up") == 2.5e6);
  CHECK(config->get_bytes("limits.memory") == 2ULL << 30U);
  CHECK(config->table_options("train").get_float("lr") == 1.0);
}

TEST_CASE("the effective configuration loads to the same values and tells origins") {
  const auto config = parse(
      "name = \"a-b\"\nrun_dir = 'C:\\x \"y\" ü'\n[swarm]\nannounce = [\"a:1\", \"b\"]\n"
      "[train]\nlr = 1\n[sync]\nname = \"local\"\n[model]\nlayers = [3, 2]\n"
      "[compress]\ncodec = \"top-k\"\n",
      {{}, {}, {"train.momentum=0.30000000000000004"}});
  REQUIRE(config.ok());
  const auto again = parse(config->effective());
  REQUIRE(again.ok());
  REQUIRE(again->entries().size() == config->entries().size());
  for (const auto& [key, entry] : config->entries()) {
    INFO(key);
    CHECK(again->find(key)->value == entry.value);
  }
  CHECK_THAT(config->effective(), Contains("# run.toml:6") && Contains("# default") &&
                                      Contains("# --set train.momentum="));
  CHECK_THAT(config->effective_json(), Contains("\"train.lr\"") && Contains("\"run.toml:6\""));
}

TEST_CASE("a key may hold a word instead of a number or a list, and shows what it holds") {
  const auto config = parse("[train]\nmicro_batch = \"auto\"\nrecompute = [\"fc1\", \"fc2\"]\n");
  REQUIRE(config.ok());
  CHECK(std::get<std::string>(config->find("train.micro_batch")->value) == "auto");
  CHECK(config->get_strings("train.recompute") == std::vector<std::string>{"fc1", "fc2"});
  CHECK_THAT(config->effective(),
             Contains("micro_batch = \"auto\"") && Contains("recompute = [\"fc1\", \"fc2\"]"));
  const auto again = parse(config->effective());
  REQUIRE(again.ok());
  CHECK(again->find("train.recompute")->value == config->find("train.recompute")->value);
  CHECK(again->find("train.micro_batch")->value == config->find("train.micro_batch")->value);

  const std::map<std::string, std::string> shown = {
      {"false", "[]"}, {"true", "true"}, {"auto", "auto"}};
  for (const auto& [word, value] : shown) {
    const auto said = parse("", {{}, {{"SHOAL_TRAIN_RECOMPUTE", word}}, {}});
    REQUIRE(said.ok());
    CHECK(option_text(said->find("train.recompute")->value) == value);
    CHECK(parse(said->effective())->find("train.recompute")->value ==
          said->find("train.recompute")->value);
  }
  CHECK(parse("[train]\nrecompute = false\n")->get_strings("train.recompute").empty());
  CHECK(parse("[train]\nmicro_batch = 7\nrecompute = true\n")->get_int("train.micro_batch") == 7);
  CHECK_THAT(error_of("[train]\nmicro_batch = \"automatic\"\n"),
             Contains("run.toml:2") && Contains("a whole number") && Contains("or it is auto"));
  CHECK_THAT(error_of("[train]\nmicro_batch = 0\n"), Contains("at least 1"));
  CHECK_THAT(error_of("[train]\nrecompute = 3\n"),
             Contains("a list of strings") && Contains("or it is auto, false, true"));
}

TEST_CASE("the outer optimizer's keys are there with the strategy that has one") {
  CHECK(parse("")->find("sync.outer") == nullptr);
  const auto config = parse("[sync]\nname = \"local\"\nouter = \"adam\"\nouter_beta = 0.5\n");
  REQUIRE(config.ok());
  CHECK(config->chosen("outer") == "adam");
  CHECK(config->plugin_options("outer").get_float("beta") == 0.5);
  CHECK_THAT(config->run_keys(),
             Contains("sync.outer=adam\n") && Contains("sync.outer_beta=0.5\n"));
  CHECK(parse(config->effective()).ok());

  const std::string waiting = "[sync.local]\nouter = \"adam\"\nouter_beta = 0.5\nperiod = 3\n";
  CHECK(parse(waiting)->find("sync.outer") == nullptr);
  const auto chosen = parse("[sync]\nname = \"local\"\n" + waiting);
  REQUIRE(chosen.ok());
  CHECK(chosen->chosen("outer") == "adam");
  CHECK(chosen->get_float("sync.outer_beta") == 0.5);

  CHECK_THAT(error_of("[sync]\nouter = \"adam\"\n"),
             Contains("sync.outer is a key of sync.name = \"local\"") && Contains("run.toml:2"));
  CHECK_THAT(error_of("[sync]\nouter_beta = 0.5\n"), Contains("sync.name = \"local\""));
  CHECK_THAT(error_of("[sync]\nname = \"local\"\nouter_beta = 0.5\n"),
             Contains("sync.outer = \"adam\"") && Contains("\"sgd\" is chosen"));
  CHECK_THAT(error_of("[sync]\nname = \"local\"\nouter = \"adem\"\n"), Contains("adam"));
  auto joiner = parse("");
  REQUIRE(joiner->apply_run_keys(config->run_keys()).ok());
  CHECK(joiner->run_keys() == config->run_keys());
}

}  // namespace
}  // namespace shoal::tests
