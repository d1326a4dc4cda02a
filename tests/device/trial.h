#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ops/backend.h"
#include "ops/base/rng.h"
#include "ops/saved.h"

namespace shoal::ops::tests {

/// One case of one operation on one backend: arrays of numbers that depend on the seed alone, so
/// that backends meet the same, and what came out. Errors: std::runtime_error, when the device has
/// no memory or fails.
class Trial {
 public:
  Trial(Backend& backend_in, std::uint64_t seed) : backend(backend_in), rng_(seed, 0) {}

  Backend& backend;

  /// Standard normal reals.
  TensorView normal(const Shape& shape);
  /// Reals above 0: variances, counts.
  TensorView positive(const Shape& shape);
  /// Integers in [0, below).
  TensorView integers(const Shape& shape, std::uint64_t below);
  TensorView bytes(const Shape& shape, std::uint64_t below);
  /// For results: what lies there before must not matter, so it is far from all of them.
  TensorView room(const Shape& shape);
  TensorView integer_room(const Shape& shape) { return integers(shape, 100); }
  TensorView byte_room(const Shape& shape) { return bytes(shape, 100); }
  TensorView double_room(const Shape& shape);

  /// Reads a result back. Everything of it is compared.
  void result(const ConstTensorView& view);
  [[nodiscard]] const std::vector<std::vector<double>>& results() const { return results_; }

 private:
  template <typename T>
  TensorView put(const std::vector<T>& values, DType dtype, const Shape& shape);
  template <typename T>
  void read(const ConstTensorView& view);

  Rng rng_;
  std::vector<std::unique_ptr<Scratch>> memory_;
  std::vector<std::vector<double>> results_;
};

}  // namespace shoal::ops::tests
