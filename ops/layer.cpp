#include "ops/layer.h"

namespace shoal::ops {

Result<TensorView> Workspace::other_than(const TensorView& taken, Backend& backend,
                                         const Shape& shape) {
  // get() leaves the memory of the buffer that is taken alone, whichever of the two it is.
  const std::size_t index = buffers_[0].holds(taken) ? 1 : 0;
  return buffers_[index].get(backend, backend.real(), shape);
}

}  // namespace shoal::ops
