#include <cmath>
#include <utility>

#include "tests/ops/support/one_layer.h"

// Every layer of the registry on a GPU against float64, forward and back.
namespace shoal::ops::tests {
namespace {

/// A layer's arrays on the device.
struct OnDevice {
  Backend& backend;
  std::vector<std::unique_ptr<Scratch>> memory;

  TensorView put(const void* values, DType dtype, const Shape& shape) {
    memory.push_back(std::make_unique<Scratch>());
    const auto view = memory.back()->get(backend, dtype, shape);
    REQUIRE(view.ok());
    backend.upload({values, shape, dtype}, *view);
    return *view;
  }
  template <typename T>
  TensorView put(const std::vector<T>& values, const Shape& shape) {
    return put(values.data(), dtype_of<T>(), shape);
  }
  std::vector<float> get(const TensorView& view) {
    std::vector<float> values(view.elements());
    backend.download(view, host_view(values.data(), view.shape));
    return values;
  }
};

void check_near(const std::vector<float>& got, const std::vector<double>& exact) {
  REQUIRE(got.size() == exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    // As float32 on the CPU in layers_test.cpp.
    REQUIRE(static_cast<double>(got[i]) == Approx(exact[i]).epsilon(1e-4).margin(1e-4));
  }
}

void check_layer(Backend& cuda, const LayerEntry& entry, const LayerExample& example,
                 std::size_t batch) {
  OneLayer<double> exact(entry, example, batch, Rng(9, batch));
  OneLayer<float> one(entry, example, batch, Rng(9, batch));
  Rng rng(9, 100);
  const auto r = random_vector<double>(rng, exact.y_shape.elements());
  Saved saved64;
  const auto y64 = exact.forward(saved64);
  const auto dx64 = exact.backward(saved64, r);

  OnDevice device{cuda, {}};
  std::vector<TensorView> params, grads, buffers;
  for (std::size_t i = 0; i < one.params.size(); ++i) {
    params.push_back(device.put(one.params[i], one.plan.params[i].shape));
    grads.push_back(device.put(one.grads[i], one.plan.params[i].shape));
  }
  for (std::size_t i = 0; i < one.buffers.size(); ++i) {
    buffers.push_back(device.put(one.buffers[i], one.plan.buffers[i].shape));
  }
  Ctx ctx = one.context();
  ctx.backend = &cuda;
  ctx.params = params;
  ctx.grads = grads;
  ctx.buffers = buffers;
  Workspace workspace;
  ctx.workspace = &workspace;
  Saved saved;
  const auto x = one.index ? device.put(one.tokens, one.x_shape) : device.put(one.x, one.x_shape);
  saved.input = x;
  const auto y = one.layer->forward(ctx, x, saved);
  REQUIRE(y.ok());
  check_near(device.get(*y), y64);
  const auto dy = device.put(std::vector<float>(r.begin(), r.end()), one.y_shape);
  const auto dx = one.layer->backward(ctx, dy, saved);
  REQUIRE(dx.ok());
  if (!dx64.empty()) {
    check_near(device.get(*dx), dx64);
  }
  for (std::size_t p = 0; p < grads.size(); ++p) {
    INFO(one.plan.params[p].name);
    check_near(device.get(grads[p]), exact.grads[p]);
  }
  REQUIRE(cuda.finish().ok());
}

TEST_CASE("CUDA: every layer agrees with float64") {
  auto made = make_cuda_backend();
  if (!made.ok()) {
    WARN("skipped, no GPU here: " << made.error().message);
    CHECK(made.error().code == Code::kDevice);
    return;
  }
  const auto cuda = std::move(made).value();
  for_each_layer([&](const LayerEntry& entry, const LayerExample& example, std::size_t batch) {
    check_layer(*cuda, entry, example, batch);
  });
}

}  // namespace
}  // namespace shoal::ops::tests
