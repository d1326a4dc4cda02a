#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ops/backend.h"
#include "ops/base/result.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// Device memory that is grown when needed and otherwise used again, so that a step in steady
/// state allocates nothing.
class Scratch {
 public:
  /// A view of the first elements; what it holds is undefined. Errors: kDevice.
  Result<TensorView> get(Backend& backend, DType dtype, const Shape& shape);
  /// Whether a view lies in this memory.
  [[nodiscard]] bool holds(const ConstTensorView& view) const {
    return !view.empty() && view.data == storage_.data();
  }
  [[nodiscard]] std::size_t bytes() const { return storage_.bytes(); }

 private:
  Storage storage_;
};

/// What a layer must remember of one micro-batch between forward and backward, side effects that
/// wait for `step()` included. One per layer and micro-batch in flight; used again by the next.
/// Dropping it and calling forward again with the same Ctx restores it.
class Saved {
 public:
  /// The input of forward; its memory belongs to the layer before.
  ConstTensorView input;
  /// The output of forward, where backward needs it.
  ConstTensorView output;

  /// Memory of this micro-batch, by slot number (0, 1, ...). Errors: kDevice.
  Result<TensorView> tensor(std::size_t slot, Backend& backend, DType dtype, const Shape& shape);
  /// What inner layer `index` of this one remembers; stays where it is.
  Saved& inner(std::size_t index);
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<Scratch> slots_;
  std::vector<std::unique_ptr<Saved>> inner_;
};

}  // namespace shoal::ops
