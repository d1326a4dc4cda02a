#pragma once

#include <cstddef>

#include "ops/base/check.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// Sizes of attention, of qkv [batch, length, 3 width].
struct AttentionShape {
  std::size_t batch;
  std::size_t length;
  std::size_t width;
  std::size_t heads;
  std::size_t head_width;

  /// Requires: qkv [N, T, 3D], D a multiple of heads (checked).
  AttentionShape(const ConstTensorView& qkv, std::size_t heads_in)
      : batch(static_cast<std::size_t>(qkv.shape[0])),
        length(static_cast<std::size_t>(qkv.shape[1])),
        width(qkv.cols() / 3),
        heads(heads_in),
        head_width(width / heads) {
    SHOAL_CHECK(qkv.shape.rank() == 3 && qkv.cols() == 3 * heads * head_width,
                "attention has whole heads");
  }
};

}  // namespace shoal::ops
