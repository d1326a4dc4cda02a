#include "ops/saved.h"

namespace shoal::ops {

Result<TensorView> Scratch::get(Backend& backend, DType dtype, const Shape& shape) {
  const std::size_t bytes = shape.elements() * dtype_bytes(dtype);
  if (storage_.data() == nullptr || storage_.bytes() < bytes) {
    storage_ = Storage();  // freed first, so that the peak is not the sum
    SHOAL_ASSIGN(storage_, backend.allocate(bytes));
  }
  return TensorView(storage_.data(), shape, dtype, backend.device());
}

Result<TensorView> Saved::tensor(std::size_t slot, Backend& backend, DType dtype,
                                 const Shape& shape) {
  if (slots_.size() <= slot) {
    slots_.resize(slot + 1);
  }
  return slots_[slot].get(backend, dtype, shape);
}

Saved& Saved::inner(std::size_t index) {
  while (inner_.size() <= index) {
    inner_.push_back(std::make_unique<Saved>());
  }
  return *inner_[index];
}

std::size_t Saved::bytes() const {
  std::size_t total = 0;
  for (const auto& slot : slots_) {
    total += slot.bytes();
  }
  for (const auto& inner : inner_) {
    total += inner->bytes();
  }
  return total;
}

}  // namespace shoal::ops
