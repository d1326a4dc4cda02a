#include "ops/memory.h"

#include <utility>

#include "ops/cpu/cpu_conv.h"
#include "ops/cuda/table.h"
#include "ops/model.h"
#include "tests/ops/support/counting_backend.h"
#include "tests/ops/support/optimizers.h"
#include "tests/ops/support/trained.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

const OptimizerEntry& entry_of(const char* name) { return *find_optimizer(name).value(); }

/// Trains two steps and compares the peak of what was allocated with the dry run: everything, and
/// what a pass takes alone, which in small models drowns in the padding of parameters.
void check_plan(const std::shared_ptr<const Architecture>& architecture,
                const MemoryQuestion& question, const char* optimizer_name) {
  const auto& entry = entry_of(optimizer_name);
  const Options options = Options::defaults(entry.options);
  const auto plan = plan_memory({*architecture, entry, options}, question);
  CountingBackend backend;
  {
    const auto model = *Model::make(architecture, backend, 1);
    const auto optimizer = *make_optimizer(optimizer_name, options, backend, architecture->space());
    model->set_recompute(question.recompute);
    const std::size_t before = backend.held();
    CHECK(before == plan.parameters + plan.gradients + plan.optimizer + plan.buffers);
    const Batch batch(*architecture, question.micro_batch, Rng(test_seed(50), 0));
    for (std::uint64_t step = 0; step < 2; ++step) {
      REQUIRE(model
                  ->train_batch({Mode::kTrain, step, 0}, batch.inputs(), batch.targets(), 0.01,
                                Into::kReplace)
                  .ok());
      optimizer->step(optimizer->scalars(0.01, step), model->parameters(), model->gradients());
    }
    // Plain loops keep less for convolutions than any device; that part has a test of its own.
    const auto measured = static_cast<double>(backend.peak());
    const auto foretold = static_cast<double>(plan.total() - plan.device);
    CHECK(foretold <= 1.1 * measured);
    CHECK(foretold >= 0.9 * measured);
    const double pass = measured - static_cast<double>(before);
    const auto planned = static_cast<double>(plan.activations + plan.workspace);
    INFO("a pass takes " << pass << " bytes, the plan said " << planned);
    CHECK(planned <= 1.1 * pass);
    CHECK(planned >= 0.9 * pass);
  }
  CHECK(backend.held() == 0);
}

MemoryQuestion of_batch(std::size_t samples) {
  MemoryQuestion question;
  question.micro_batch = samples;
  return question;
}

TEST_CASE("the dry run foretells within 10 % what every layer takes") {
  for (const auto& entry : layer_registry()) {
    for (const auto& example : entry.examples) {
      std::vector<LayerSpec> layers;
      if (!example.input.index) {  // something before it learns, so that it gives a gradient
        layers.push_back(
            {"linear", "", {{"out", static_cast<std::int64_t>(example.input.shape.cols())}}});
      }
      layers.push_back({entry.type, "", example.options, example.inner, example.shortcut});
      layers.push_back({"flatten", "", {}});
      layers.push_back({"linear", "", {{"out", std::int64_t{3}}}});
      INFO(entry.type << " on " << example.input.shape.text());
      check_plan(architecture_of(example.input, std::move(layers)), of_batch(64), "sgd");
    }
  }
}

TEST_CASE("the dry run foretells within 10 % what every model takes") {
  const Port inputs[] = {{{8, 8}, false}, {{28, 28}, false}, {{3, 32, 32}, false}, {{32}, true}};
  for (const auto& entry : model_registry()) {
    INFO(entry.name);
    bool fits = false;  // a model that takes none of these needs another line above
    for (const auto& input : inputs) {
      const auto made = make_architecture(entry.name, Options::defaults(entry.options), input, 10);
      if (made.ok()) {
        fits = true;
        check_plan(*made, of_batch(4), "sgd");
        break;
      }
    }
    CHECK(fits);
  }
}

TEST_CASE("the dry run foretells within 10 % what a model and every optimizer take") {
  const auto options = Options::defaults(find_model("mlp").value()->options);
  const auto mlp = *make_architecture("mlp", options, {{28, 28}, false}, 10);
  for (const auto& entry : optimizer_registry()) {
    INFO(entry.name);
    check_plan(mlp, of_batch(4), entry.name.c_str());
  }
  check_plan(deep_blocks(6), of_batch(128), "sgd");
}

/// What the CPU holds for convolutions after two steps of training.
std::size_t conv_memory(const std::shared_ptr<const Architecture>& architecture,
                        std::size_t samples) {
  const auto cpu = make_cpu_backend();
  const auto model = *Model::make(architecture, *cpu, 1);
  const Batch batch(*architecture, samples, Rng(test_seed(53), 0));
  for (std::uint64_t step = 0; step < 2; ++step) {
    REQUIRE(model
                ->train_batch({Mode::kTrain, step, 0}, batch.inputs(), batch.targets(), 0.01,
                              Into::kReplace)
                .ok());
  }
  return dynamic_cast<const CpuConvOps&>(*cpu).held_bytes();
}

TEST_CASE("what the CPU keeps for convolutions is in the dry run") {
  const auto& sgd = entry_of("sgd");
  const Options options = Options::defaults(sgd.options);
  const auto check = [&](const std::shared_ptr<const Architecture>& architecture) {
    for (const std::size_t samples : {1U, 5U, 40U}) {
      const auto plan = plan_memory({*architecture, sgd, options}, of_batch(samples));
      INFO(samples << " samples");
      // All but what a first layer leaves out, which gives no gradient of its input.
      const std::size_t held = conv_memory(architecture, samples);
      CHECK(held <= plan.device);
      CHECK(static_cast<double>(plan.device) <= 1.1 * static_cast<double>(held));
    }
  };
  for (const auto& example : (*find_layer("conv2d"))->examples) {
    INFO(example.input.shape.text());
    const Shape& in = example.input.shape;
    const std::int64_t channels = in.rank() == 2 ? 1 : in[0];
    std::vector<LayerSpec> layers{{"conv2d", "", {{"out", channels}, {"kernel", std::int64_t{1}}}},
                                  {"conv2d", "", example.options},
                                  {"flatten", "", {}},
                                  {"linear", "", {{"out", std::int64_t{3}}}}};
    check(architecture_of(example.input, std::move(layers)));
  }
  for (const char* name : {"lenet5", "cnn"}) {
    INFO(name);
    check(*make_architecture(name, Options::defaults(find_model(name).value()->options),
                             {{1, 28, 28}, false}, 10));
  }
  const auto mlp = *make_architecture("mlp", Options::defaults(find_model("mlp").value()->options),
                                      {{784}, false}, 10);
  CHECK(plan_memory({*mlp, sgd, options}, of_batch(8)).device == 0);
}

TEST_CASE("what a GPU keeps for convolutions is in the dry run, and bounded") {
  const auto architecture = *make_architecture(
      "cnn", Options::defaults(find_model("cnn").value()->options), {{1, 28, 28}, false}, 10);
  const auto& sgd = entry_of("sgd");
  const Options options = Options::defaults(sgd.options);
  const TrainingShape training{*architecture, sgd, options};
  MemoryQuestion question = of_batch(1);
  question.device = DeviceKind::kCuda;
  const auto device = [&](std::size_t samples) {
    question.micro_batch = samples;
    return plan_memory(training, question).device - SHOAL_CUDA_STAGING_BYTES;
  };
  // The second convolution, 5 x 5 over 32 planes of 14 x 14 to 64 channels, has the larger columns.
  constexpr std::uint64_t kImage = (32 * 25 + 64) * 14 * 14 * sizeof(float);
  CHECK(device(1) == kImage);
  CHECK(device(8) == 8 * kImage);
  CHECK(device(10'000) <= std::uint64_t{64} << 20U);
  CHECK(device(10'000) > (std::uint64_t{64} << 20U) - kImage);
  // A budget knows of it.
  const auto whole = plan_memory(training, question).total();
  CHECK(*fit_micro_batch(training, question, 10'000, whole) == 10'000);
  CHECK(*fit_micro_batch(training, question, 10'000, whole - 1) < 10'000);
}

TEST_CASE("a slice takes its part, and passes in flight take theirs") {
  const auto architecture = *make_architecture(
      "mlp", Options::defaults(find_model("mlp").value()->options), {{784}, false}, 10);
  const auto& sgd = entry_of("sgd");
  const auto options = with(sgd, {{"momentum", 0.0}});
  const TrainingShape training{*architecture, sgd, options};
  MemoryQuestion question = of_batch(8);
  const auto whole = plan_memory(training, question);
  CHECK(whole.optimizer == 0);
  CHECK(whole.activations == (256 + 128 + 10) * sizeof(float) * 8);
  question.in_flight = 3;
  CHECK(plan_memory(training, question).activations == 3 * whole.activations);
  question.in_flight = 1;
  question.device = DeviceKind::kCuda;
  CHECK(plan_memory(training, question).workspace == whole.workspace + 784 * sizeof(float) * 8);
  question.device = DeviceKind::kCpu;
  question.end_layer = 1;
  const auto front = plan_memory(training, question);
  question.first_layer = 1;
  question.end_layer = 3;
  const auto back = plan_memory(training, question);
  CHECK(front.parameters + back.parameters <= whole.parameters);
  CHECK(front.activations + back.activations == whole.activations);
}

TEST_CASE("passes in flight take what the dry run says, recomputing or not") {
  const auto architecture = deep_blocks(5);
  const auto& sgd = entry_of("sgd");
  const Options options = Options::defaults(sgd.options);
  for (const bool recompute : {false, true}) {
    MemoryQuestion question = of_batch(64);
    question.in_flight = 3;
    if (recompute) {
      question.recompute = {{0, 2}, {2, 4}};
    }
    const auto plan = plan_memory({*architecture, sgd, options}, question);
    CountingBackend backend;
    const auto model = *Model::make(architecture, backend, 1);
    model->set_recompute(question.recompute);
    const std::size_t before = backend.held();
    const Batch batch(*architecture, 64, Rng(test_seed(51), 0));
    std::vector<Pass> passes(3);
    std::vector<Scratch> gradients(3);
    std::vector<TensorView> outputs;
    for (std::uint32_t i = 0; i < 3; ++i) {
      outputs.push_back(*model->forward({Mode::kTrain, 0, i}, batch.inputs(), passes[i]));
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
      const auto dy = *gradients[i].get(backend, DType::kF32, outputs[i].shape);
      REQUIRE(model->loss(outputs[i], batch.targets(), 0.1, dy).ok());
      REQUIRE(model->backward({Mode::kTrain, 0, i}, dy, passes[i], Into::kAdd).ok());
    }
    const auto pass = static_cast<double>(backend.peak() - before);
    const auto planned = static_cast<double>(plan.activations + plan.workspace);
    INFO(pass << " bytes, the plan said " << planned);
    CHECK(planned <= 1.1 * pass);
    CHECK(planned >= 0.9 * pass);
  }
}

TEST_CASE("computing again saves the memory that was planned, to the same gradient") {
  const auto architecture = deep_blocks(8);
  const Batch batch(*architecture, 32, Rng(test_seed(52), 0));
  const auto gradients = [&](const std::vector<Segment>& segments, std::size_t& bytes) {
    CountingBackend backend;
    const auto model = *Model::make(architecture, backend, 5);
    model->set_recompute(segments);
    for (const auto into : {Into::kReplace, Into::kAdd}) {  // twice: memory is used again
      REQUIRE(model->train_batch({}, batch.inputs(), batch.targets(), 0.1, into).ok());
    }
    bytes = model->working_bytes();
    std::vector<float> values(model->gradients().space().size());
    model->gradients().read_all(values);
    return values;
  };
  std::size_t plain_bytes = 0;
  const auto plain = gradients({}, plain_bytes);
  const std::vector<std::vector<Segment>> choices = {
      {{0, 1}},         {{7, 9}},        {{0, 9}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}},
      {{0, 3}, {3, 6}}, {{2, 4}, {5, 7}}};
  for (const auto& segments : choices) {
    std::size_t bytes = 0;
    CHECK(gradients(segments, bytes) == plain);
    INFO(segments.size() << " segments, from layer " << segments[0].begin);
    const bool one = segments.size() == 1;  // what is dropped is there again at the peak
    CHECK((one || bytes < plain_bytes));
  }
  std::size_t bytes = 0;
  gradients(choices[3], bytes);
  // Of a block's 56 reals a sample 8 stay, in 6 of 8 blocks, and one block lies there again: of
  // 510 reals, gradients with them, 278.
  CHECK(static_cast<double>(bytes) < 0.6 * static_cast<double>(plain_bytes));
  MemoryQuestion question = of_batch(32);
  question.recompute = choices[3];
  check_plan(architecture, question, "sgd");
}

TEST_CASE("a micro-batch is found that fits a budget") {
  const auto architecture = deep_blocks(4);
  const auto& sgd = entry_of("sgd");
  const Options options = Options::defaults(sgd.options);
  const TrainingShape training{*architecture, sgd, options};
  const auto total = [&](std::size_t n) { return plan_memory(training, of_batch(n)).total(); };
  CHECK(*fit_micro_batch(training, {}, 60, total(60)) == 60);
  CHECK(*fit_micro_batch(training, {}, 60, total(60) - 1) == 30);
  CHECK(*fit_micro_batch(training, {}, 60, total(25)) == 20);
  CHECK(*fit_micro_batch(training, {}, 61, total(31)) == 31);  // 31 + 30
  CHECK(*fit_micro_batch(training, {}, 60, total(1)) == 1);
  CHECK(*fit_micro_batch(training, {}, 1, total(1)) == 1);
  const auto refused = fit_micro_batch(training, {}, 60, total(1) - 1);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kDevice);
  CHECK(refused.error().message.find("MiB") != std::string::npos);
}

TEST_CASE("layers to compute again are found for a budget, and as few as will do") {
  const auto architecture = deep_blocks(8);
  const auto& sgd = entry_of("sgd");
  const Options options = Options::defaults(sgd.options);
  const TrainingShape training{*architecture, sgd, options};
  const MemoryQuestion question = of_batch(256);
  const auto takes = [&](std::vector<Segment> segments) {
    MemoryQuestion asked = question;
    asked.recompute = std::move(segments);
    return plan_memory(training, asked).total();
  };
  const std::uint64_t whole = takes({});
  CHECK(fit_recompute(training, question, whole)->empty());
  std::size_t last = 0;
  for (const double part : {0.9, 0.7, 0.55}) {  // at least 0.501 is needed
    const auto budget = static_cast<std::uint64_t>(part * static_cast<double>(whole));
    const auto segments = fit_recompute(training, question, budget);
    INFO("a budget of " << part);
    REQUIRE(segments.ok());
    CHECK(takes(*segments) <= budget);
    std::size_t layers = 0;
    for (const auto& segment : *segments) {
      layers += segment.end - segment.begin;
    }
    CHECK(layers > last);
    last = layers;
  }
  const auto refused = fit_recompute(training, question, takes({}) / 100);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kDevice);
}

}  // namespace
}  // namespace shoal::ops::tests
