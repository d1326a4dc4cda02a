#include "node/memory_plan.h"

#include <numeric>

#include "node/plan_check.h"
#include "tests/node/data/data_folder.h"
#include "tests/node/support/team.h"
#include "tests/ops/support/counting_backend.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

/// All that a plan is made from, of a configuration that must be good.
struct Planned {
  explicit Planned(const std::vector<std::string>& settings)
      : config(Team::config(2, 0, settings)),
        dataset(must(open_configured_dataset(config))),
        architecture(must(configured_architecture(config, *dataset))),
        strategy(must(configured_strategy(config, dataset->size(Split::kTrain)))) {}
  [[nodiscard]] Result<MemoryTable> plan() const {
    return plan_peer_memory({config, *dataset, *architecture, *strategy}, ops::DeviceKind::kCpu);
  }

  Config config;
  std::shared_ptr<Dataset> dataset;
  std::shared_ptr<const ops::Architecture> architecture;
  std::unique_ptr<Strategy> strategy;
};

/// Trains two steps as a peer would, on a backend that counts, and compares its peak with the plan.
void check_peak(const std::vector<std::string>& settings) {
  const Planned peer(settings);
  const MemoryTable table = must(peer.plan());
  const auto backend = std::make_shared<ops::tests::CountingBackend>();
  std::vector<std::uint32_t> batch(static_cast<std::size_t>(peer.config.get_int("train.batch")));
  std::iota(batch.begin(), batch.end(), 0U);
  REQUIRE(peer.dataset->hold(Split::kTrain, batch).ok());
  {
    auto model = must(ops::Model::make(peer.architecture, *backend, 1));
    auto local = must(peer.strategy->local_optimizer(*backend, model->parameters().space()));
    const bool steps = local != nullptr;
    model->set_recompute(table.pass.recompute);
    Trainer trainer(backend, std::move(model), peer.dataset, std::move(local),
                    table.pass.micro_batch);
    for (std::uint64_t step = 0; step < 2; ++step) {
      REQUIRE(
          (steps ? trainer.local_step(batch, step, 0.01) : trainer.gradient(batch, step, {})).ok());
    }
  }
  const auto measured = static_cast<double>(backend->peak());
  // What the device keeps for its own use does not go through allocate().
  const auto planned = static_cast<double>(table.training.total() - table.training.device);
  INFO("planned " << planned << ", measured " << measured);
  CHECK(planned <= 1.1 * measured);
  CHECK(planned >= 0.9 * measured);
}

std::uint64_t total(const std::vector<std::string>& settings) {
  return must(Planned(settings).plan()).main_bytes();
}

/// The settings, with limits.memory at so many bytes.
std::vector<std::string> with_limit(std::vector<std::string> settings, std::uint64_t bytes) {
  settings.push_back("limits.memory=" + std::to_string(bytes));
  return settings;
}

const std::vector<std::string> kWide = {"model.layers=[16, 512, 512, 512, 4]", "train.batch=256"};

std::vector<std::string> wide(const std::vector<std::string>& more) {
  std::vector<std::string> all = kWide;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A text, and a small GPT on it.
class Corpus {
 public:
  Corpus() {
    std::string text;
    for (int i = 0; i < 400; ++i) {
      text += "the sea is " + std::to_string(i * 7 % 13) + " deep; ";
    }
    folder_.write("corpus.txt", text);
  }
  [[nodiscard]] std::vector<std::string> gpt(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"data.name=text",  "data.path=" + folder_.file("corpus.txt"),
                                    "data.context=32", "model.name=gpt",
                                    "model.depth=4",   "model.width=32"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

 private:
  shoal::tests::DataFolder folder_;
};

}  // namespace

TEST_CASE("memory plan: within 10 % of what an MLP, a CNN and a GPT allocate") {
  for (const char* strategy : {"sync.name=allreduce", "sync.name=local"}) {
    for (const char* batch : {"train.micro_batch=512", "train.micro_batch=4"}) {
      INFO(strategy << ", " << batch);
      check_peak({strategy, batch, "train.optimizer=adamw", "train.batch=64"});
      check_peak(
          {strategy, batch, "data.name=fashion-mnist", "model.name=lenet5", "train.batch=8"});
    }
  }
  const Corpus corpus;
  for (const char* recompute : {"train.recompute=false", "train.recompute=true"}) {
    INFO(recompute);
    check_peak(corpus.gpt({"train.batch=8", recompute}));
  }
}

TEST_CASE("memory plan: auto finds the micro-batch that fits") {
  const std::uint64_t whole = total(kWide);
  CHECK(must(Planned(kWide).plan()).pass.micro_batch == 256);
  const auto plan = [&](const std::vector<std::string>& more, std::uint64_t limit) {
    return Planned(with_limit(wide(more), limit)).plan();
  };
  CHECK(must(plan({"train.micro_batch=auto"}, whole)).pass.micro_batch == 256);
  const std::uint64_t least = total(wide({"train.micro_batch=1"}));
  for (const double part : {0.7, 0.3, 0.01}) {
    const auto limit =
        least + static_cast<std::uint64_t>(part * static_cast<double>(whole - least));
    const MemoryTable table = must(plan({"train.micro_batch=auto"}, limit));
    INFO("a part of " << part << ": " << table.pass.micro_batch);
    CHECK(table.pass.micro_batch < 256);
    CHECK(table.main_bytes() <= limit);
    CHECK(table.pass.recompute.empty());
  }
}

TEST_CASE("memory plan: auto finds layers to compute again, and few") {
  const Corpus corpus;
  const std::uint64_t whole = total(corpus.gpt({}));
  const std::uint64_t again = total(corpus.gpt({"train.recompute=true"}));
  REQUIRE(again < whole);
  const auto plan = [&](const std::vector<std::string>& more, std::uint64_t limit) {
    return must(Planned(with_limit(corpus.gpt(more), limit)).plan());
  };
  CHECK(plan({"train.recompute=auto"}, whole).pass.recompute.empty());
  const std::uint64_t between = (again + whole) / 2;
  const MemoryTable table = plan({"train.recompute=auto"}, between);
  CHECK(table.pass.micro_batch == 64);
  CHECK_FALSE(table.pass.recompute.empty());
  CHECK(table.main_bytes() <= between);
  // Smaller passes cost no arithmetic, so they come first.
  const MemoryTable both = plan({"train.recompute=auto", "train.micro_batch=auto"}, between);
  CHECK(both.pass.micro_batch < 64);
  CHECK(both.pass.recompute.empty());
  CHECK(both.main_bytes() <= between);
}

TEST_CASE("memory plan: what fits nowhere, and layers that are not there, are refused in words") {
  const auto refused = [](const std::vector<std::string>& settings) {
    const auto plan = Planned(settings).plan();
    REQUIRE_FALSE(plan.ok());
    return plan.error();
  };
  for (const char* key : {"train.micro_batch", "train.recompute"}) {
    const Error error = refused(with_limit(wide({std::string(key) + "=auto"}), 1 << 20U));
    CHECK(exit_code(error.code) == 5);
    CHECK_THAT(error.message, Contains(key) && Contains("raise limits.memory"));
  }
  const Error unknown = refused({"train.recompute=[fc1, fc9]"});
  CHECK(exit_code(unknown.code) == 2);
  CHECK_THAT(unknown.message, Contains("train.recompute") && Contains("\"fc9\"") &&
                                  Contains("fc1, fc2") && Contains("--set"));
  const Error held = refused({"model.name=layers", "model.layers=[linear 8, batch_norm, linear 4]",
                              "train.recompute=[1]"});
  CHECK(exit_code(held.code) == 2);
  CHECK_THAT(held.message, Contains("running statistics"));
  const Planned fine({"model.name=layers", "model.layers=[linear 8, batch_norm, linear 4]",
                      "train.recompute=true"});
  CHECK(layer_names(*fine.architecture, must(fine.plan()).pass.recompute) ==
        std::vector<std::string>{"0", "2"});
}

TEST_CASE("memory plan: every optimizer outside, codec and peer has its bytes in the table") {
  const auto table = [](const std::vector<std::string>& settings) {
    return must(Planned(settings).plan());
  };
  const std::uint64_t parameters = must(Planned({}).plan()).training.parameters;
  const auto sgd = table({"sync.name=local"});
  const auto adamw = table({"sync.name=local", "sync.outer=adamw"});
  CHECK(adamw.shared == sgd.shared + parameters);
  CHECK(sgd.training.optimizer == parameters);
  CHECK(table({}).training.optimizer == 0);  // the shared one moves the parameters
  CHECK(table(wide({"compress.codec=int8"})).exchange < table(kWide).exchange);
  CHECK(table({"swarm.peers=8"}).exchange != table({}).exchange);
  const auto convolutions = table({"data.name=fashion-mnist", "model.name=lenet5"});
  CHECK(convolutions.training.device > 0);
  for (const auto& each : {sgd, convolutions}) {
    std::uint64_t sum = 0;
    for (const auto& row : each.rows()) {
      sum += row.bytes;
    }
    CHECK(sum == each.main_bytes());
  }
  CHECK(must(check_plan(Team::config(2, 0, {}))).memory.main_bytes() == table({}).main_bytes());
}

}  // namespace shoal::node::tests
