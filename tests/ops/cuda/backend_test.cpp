#include <cmath>
#include <utility>

#include "ops/model.h"
#include "ops/norm.h"
#include "ops/optim/optimizer.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/optimizers.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"

// What only a machine with a GPU can tell. Elsewhere the bodies run as host code (backend_test.cpp)
// and these cases check that the absence is said.
namespace shoal::ops::tests {
namespace {

std::unique_ptr<Backend> cuda_or_null() {
  auto made = make_cuda_backend();
  if (made.ok()) {
    return std::move(made).value();
  }
  WARN("skipped, no GPU here: " << made.error().message);
  CHECK(made.error().code == Code::kDevice);
  return nullptr;
}

std::shared_ptr<const Architecture> small_mlp() {
  Options options = Options::defaults(find_model("mlp").value()->options);
  options.set("layers", std::vector<std::int64_t>{70, 65, 10});
  return *make_architecture("mlp", options, {{70}, false}, 10);
}

TEST_CASE("CUDA: every optimizer gives the bits of the CPU") {
  const auto cuda = cuda_or_null();
  if (cuda == nullptr) {
    return;
  }
  const auto cpu = make_cpu_backend();
  const FlatSpace space = tensor_space({{30, 20}, {100}, {300, 1}});
  for (const auto& entry : optimizer_registry()) {
    const auto options = Options::defaults(entry.options);
    const auto on_cpu = *make_optimizer(entry.name, options, *cpu, space);
    const auto on_gpu = *make_optimizer(entry.name, options, *cuda, space);
    auto p = *FlatArray::make(*cpu, space);
    auto q = *FlatArray::make(*cuda, space);
    auto g = *FlatArray::make(*cpu, space);
    auto h = *FlatArray::make(*cuda, space);
    Rng rng(1, 1);
    for (std::uint64_t step = 0; step < 10; ++step) {
      const auto values = random_vector<float>(rng, 1000);
      g.write_all(values);
      h.write_all(values);
      on_cpu->step(on_cpu->scalars(0.1, step), p, g);
      on_gpu->step(on_gpu->scalars(0.1, step), q, h);
    }
    std::vector<float> a(1000), b(1000);
    p.read_all(a);
    q.read_all(b);
    REQUIRE(cuda->finish().ok());
    CHECK(a == b);
  }
}

TEST_CASE("CUDA: sums of squares and clipping give the bits of the CPU") {
  const auto cuda = cuda_or_null();
  if (cuda == nullptr) {
    return;
  }
  Rng rng(4, 4);
  auto x = random_vector<float>(rng, 5000);
  const Shape shape{5000};
  Scratch memory;
  const auto on_gpu = *memory.get(*cuda, DType::kF32, shape);
  cuda->upload(host_view(std::as_const(x).data(), shape), on_gpu);
  auto sums = *SquareSums::make(*cuda, SquareSums::leaves(5000));
  CHECK(clip_norm(*cuda, on_gpu, 0.5, sums) == clip_norm(x, 0.5));
  std::vector<float> back(5000);
  cuda->download(on_gpu, host_view(back.data(), shape));
  REQUIRE(cuda->finish().ok());
  CHECK(back == x);
}

TEST_CASE("CUDA: a model trains as on the CPU") {
  const auto cuda = cuda_or_null();
  if (cuda == nullptr) {
    return;
  }
  const auto cpu = make_cpu_backend();
  const auto architecture = small_mlp();
  const auto a = *Model::make(architecture, *cpu, 7);
  const auto b = *Model::make(architecture, *cuda, 7);
  CHECK(a->hash() == b->hash());
  const auto options = Options::defaults(find_optimizer("sgd").value()->options);
  const auto on_cpu = *make_optimizer("sgd", options, *cpu, a->parameters().space());
  const auto on_gpu = *make_optimizer("sgd", options, *cuda, b->parameters().space());
  Rng rng(2, 2);
  const auto x = random_vector<float>(rng, 16 * 70);
  std::vector<std::int32_t> y(16);
  for (auto& target : y) {
    target = static_cast<std::int32_t>(rng.below(10));
  }
  for (std::uint64_t step = 0; step < 50; ++step) {
    const PassInfo info{Mode::kTrain, step, 0};
    const auto batch = host_view(std::as_const(x).data(), {16, 70});
    const auto targets = host_view(std::as_const(y).data(), {16});
    const auto r = a->train_batch(info, batch, targets, 1.0 / 16, Into::kReplace);
    const auto s = b->train_batch(info, batch, targets, 1.0 / 16, Into::kReplace);
    REQUIRE((r.ok() && s.ok()));
    // Products sum in another order: as float32 against float64 in model_test.cpp.
    REQUIRE(s->mean_loss() == Approx(r->mean_loss()).epsilon(1e-4));
    on_cpu->step(on_cpu->scalars(0.01, step), a->parameters(), a->gradients());
    on_gpu->step(on_gpu->scalars(0.01, step), b->parameters(), b->gradients());
  }
}

TEST_CASE("CUDA: softmax cross-entropy as on the CPU") {
  const auto cuda = cuda_or_null();
  if (cuda == nullptr) {
    return;
  }
  const auto cpu = make_cpu_backend();
  Rng rng(3, 3);
  const auto scores = random_vector<float>(rng, 33 * 10);
  std::vector<std::int32_t> labels(33);
  for (auto& label : labels) {
    label = static_cast<std::int32_t>(rng.below(10));
  }
  const auto gradient = [&](Backend& backend) {
    const auto loss = *make_loss("softmax-cross-entropy");
    Scratch in;
    Scratch out;
    const auto x = *in.get(backend, DType::kF32, {33, 10});
    const auto dx = *out.get(backend, DType::kF32, {33, 10});
    backend.upload(host_view(scores.data(), {33, 10}), x);
    const auto targets = host_view(std::as_const(labels).data(), {33});
    REQUIRE(loss->evaluate(backend, x, targets, 0.5, dx).ok());
    std::vector<float> values(330);
    backend.download(dx, host_view(values.data(), {33, 10}));
    return values;
  };
  const auto a = gradient(*cpu);
  const auto b = gradient(*cuda);
  for (std::size_t i = 0; i < a.size(); ++i) {
    // The CPU adds in lanes: ten terms of at most 1 with eps 6e-8, and exp within 2 ulp.
    REQUIRE(std::abs(a[i] - b[i]) < 1e-5F);
  }
}

}  // namespace
}  // namespace shoal::ops::tests
