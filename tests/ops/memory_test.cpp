#include "ops/memory.h"

#include "ops/model.h"
#include "tests/support/catch.h"

namespace shoal::ops {
namespace {

TEST_CASE("the dry run foretells what a model takes") {
  const auto* model_entry = find_model("mlp").value();
  const auto architecture =
      *make_architecture("mlp", Options::defaults(model_entry->options), {{28, 28}, false}, 10);
  const auto* sgd = find_optimizer("sgd").value();
  const auto options = Options::defaults(sgd->options);
  constexpr std::size_t kBatch = 16;
  const auto plan = plan_memory(*architecture, {kBatch, 1, 0, 0}, *sgd, options);

  const auto backend = make_cpu_backend();
  const auto model = *Model::make(architecture, *backend, 1);
  const auto optimizer = *make_optimizer("sgd", options, *backend, model->parameters().space());
  CHECK(plan.parameters == model->parameters().view().bytes());
  CHECK(plan.gradients == model->gradients().view().bytes());
  CHECK(plan.optimizer == optimizer->state()[0].array->view().bytes());
  CHECK(plan.activations == (256 + 128 + 10) * sizeof(float) * kBatch);

  const std::vector<float> x(kBatch * 784);
  const std::vector<std::int32_t> y(kBatch);
  REQUIRE(model
              ->train_batch({}, host_view(x.data(), {kBatch, 28, 28}),
                            host_view(y.data(), {kBatch}), 1, Into::kReplace)
              .ok());
  // On the CPU the batch is used where it lies, which the plan cannot know.
  CHECK(model->working_bytes() <= plan.activations + plan.workspace);
  CHECK(model->working_bytes() >= plan.activations);
  CHECK(plan.total() > plan.parameters + plan.gradients + plan.optimizer);
}

TEST_CASE("a slice takes its part, and passes in flight take theirs") {
  const auto architecture = *make_architecture(
      "mlp", Options::defaults(find_model("mlp").value()->options), {{784}, false}, 10);
  const auto* sgd = find_optimizer("sgd").value();
  auto options = Options::defaults(sgd->options);
  options.set("momentum", 0.0);
  const auto whole = plan_memory(*architecture, {8, 1, 0, 0}, *sgd, options);
  CHECK(whole.optimizer == 0);
  const auto front = plan_memory(*architecture, {8, 1, 0, 1}, *sgd, options);
  const auto back = plan_memory(*architecture, {8, 1, 1, 3}, *sgd, options);
  CHECK(front.parameters + back.parameters <= whole.parameters);
  CHECK(front.activations + back.activations == whole.activations);
  CHECK(plan_memory(*architecture, {8, 3, 0, 0}, *sgd, options).activations ==
        3 * whole.activations);
}

}  // namespace
}  // namespace shoal::ops
