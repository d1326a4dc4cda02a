#include "node/trainer.h"

#include <numeric>

#include "comm/workers.h"
#include "ops/architecture.h"
#include "ops/optim/optimizer.h"
#include "tests/node/data/data_folder.h"

namespace shoal::tests {
namespace {

using node::Split;

struct Trained {
  std::vector<double> losses;
  std::vector<float> parameters;
  ops::BatchResult test;
};

/// Twelve local steps and a gradient over the synthetic blobs, batches known one ahead.
Trained train(const node::Loader::Post& post) {
  std::shared_ptr<node::Dataset> data = must_open("synthetic", {}, 3);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  std::shared_ptr<ops::Backend> backend = ops::make_cpu_backend();
  const auto* entry = *ops::find_model("mlp");
  Options options = Options::defaults(entry->options);
  options.set("layers", std::vector<std::int64_t>{16, 8, 4});
  const auto architecture = ops::make_architecture("mlp", options, data->input(), data->classes());
  REQUIRE(architecture.ok());
  auto model = ops::Model::make(*architecture, *backend, 1);
  REQUIRE(model.ok());
  const auto* rule = *ops::find_optimizer("sgd");
  auto local = ops::make_optimizer("sgd", Options::defaults(rule->options), *backend,
                                   (*model)->parameters().space());
  REQUIRE(local.ok());
  node::Trainer trainer(backend, std::move(*model), data, std::move(*local));
  if (post) {
    trainer.prefetch_on(post, 0);
  }
  std::vector<std::uint32_t> all(data->size(Split::kTrain));
  std::iota(all.begin(), all.end(), 0U);
  Trained out;
  constexpr std::size_t kBatch = 600;  // more than a pass
  for (std::uint64_t step = 0; step < 12; ++step) {
    const auto batch = [&all](std::uint64_t s) { return std::span(all).subspan(s * 100, kBatch); };
    const auto result = trainer.local_step(batch(step), step, 0.1, {batch(step + 1), step + 1});
    REQUIRE(result.ok());
    out.losses.push_back(result->mean_loss());
  }
  const auto test = trainer.evaluate();
  REQUIRE(test.ok());
  out.test = *test;
  out.parameters.resize(trainer.model().parameters().space().size());
  trainer.read_parameters(out.parameters);
  return out;
}

TEST_CASE("trainer: what dropout leaves differs from sample to sample, so from member to member") {
  // Without noise, sample 4 is sample 0 again.
  std::shared_ptr<node::Dataset> data = must_open("synthetic", {{"noise", 0.0}}, 3);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  Options options = Options::defaults((*ops::find_model("layers"))->options);
  options.set("layers", std::vector<std::string>{"dropout 0.5", "linear 4"});
  const auto architecture =
      ops::make_architecture("layers", options, data->input(), data->classes());
  REQUIRE(architecture.ok());
  std::shared_ptr<ops::Backend> backend = ops::make_cpu_backend();
  auto model = ops::Model::make(*architecture, *backend, 1);
  REQUIRE(model.ok());
  node::Trainer trainer(backend, std::move(*model), data, nullptr);
  const auto gradient = [&trainer](std::uint32_t sample, std::uint64_t step) {
    std::vector<float> out(trainer.model().gradients().space().size());
    REQUIRE(trainer.gradient({&sample, 1}, step, out).ok());
    return out;
  };
  const auto first = gradient(0, 7);
  CHECK(gradient(4, 7) != first);
  CHECK(gradient(0, 8) != first);
  CHECK(gradient(0, 7) == first);
}

TEST_CASE("trainer: batches filled ahead change nothing, to the bit") {
  const Trained direct = train({});
  CHECK(direct.losses.back() < direct.losses.front());
  CHECK(direct.test.samples == 512);
  const auto check_same = [&direct](const Trained& ahead) {
    CHECK(direct.losses == ahead.losses);
    CHECK(direct.parameters == ahead.parameters);
    CHECK(direct.test.loss_sum == ahead.test.loss_sum);
  };
  // A fill that ends at once: every step's second pass, and the first of the next, are ahead.
  std::size_t posted = 0;
  check_same(train([&posted](const std::function<void()>& fill) {
    ++posted;
    fill();
  }));
  CHECK(posted >= 12);
  comm::ThreadWorkers workers;
  check_same(train([&workers](std::function<void()> fill) {
    workers.post(comm::Offload::kIo, std::move(fill), [] {});
  }));
}

}  // namespace
}  // namespace shoal::tests
