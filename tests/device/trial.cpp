#include "tests/device/trial.h"

#include <cmath>
#include <stdexcept>

namespace shoal::ops::tests {

template <typename T>
TensorView Trial::put(const std::vector<T>& values, DType dtype, const Shape& shape) {
  memory_.push_back(std::make_unique<Scratch>());
  const auto view = memory_.back()->get(backend, dtype, shape);
  if (!view.ok()) {
    throw std::runtime_error(view.error().message);
  }
  backend.upload(host_view(values.data(), shape), *view);
  return *view;
}

TensorView Trial::normal(const Shape& shape) {
  std::vector<float> values(shape.elements());
  for (auto& value : values) {
    value = static_cast<float>(rng_.normal());
  }
  return put(values, backend.real(), shape);
}

TensorView Trial::positive(const Shape& shape) {
  std::vector<float> values(shape.elements());
  for (auto& value : values) {
    value = static_cast<float>(0.1 + std::abs(rng_.normal()));
  }
  return put(values, backend.real(), shape);
}

TensorView Trial::integers(const Shape& shape, std::uint64_t below) {
  std::vector<std::int32_t> values(shape.elements());
  for (auto& value : values) {
    value = static_cast<std::int32_t>(rng_.below(below));
  }
  return put(values, DType::kI32, shape);
}

TensorView Trial::bytes(const Shape& shape, std::uint64_t below) {
  std::vector<std::uint8_t> values(shape.elements());
  for (auto& value : values) {
    value = static_cast<std::uint8_t>(rng_.below(below));
  }
  return put(values, DType::kU8, shape);
}

TensorView Trial::room(const Shape& shape) {
  return put(std::vector<float>(shape.elements(), 1e6F), backend.real(), shape);
}

TensorView Trial::double_room(const Shape& shape) {
  return put(std::vector<double>(shape.elements(), 1e6), DType::kF64, shape);
}

template <typename T>
void Trial::read(const ConstTensorView& view) {
  std::vector<T> values(view.elements());
  backend.download(view, host_view(values.data(), view.shape));
  if (const auto done = backend.finish(); !done.ok()) {
    throw std::runtime_error(done.error().message);
  }
  results_.emplace_back(values.begin(), values.end());
}

void Trial::result(const ConstTensorView& view) {
  switch (view.dtype) {
    case DType::kF32:
      return read<float>(view);
    case DType::kF64:
      return read<double>(view);
    case DType::kI32:
      return read<std::int32_t>(view);
    case DType::kU8:
      return read<std::uint8_t>(view);
  }
}

}  // namespace shoal::ops::tests
