#pragma once

#include <cstddef>

#include "ops/cpu/room.h"

namespace shoal::ops::cpu {

/// One head of one sequence: rows of q, k and v lie `stride` apart, `width` numbers each.
struct AttentionHead {
  const float* q;
  const float* k;
  const float* v;
  std::size_t stride;
  std::size_t length;
  std::size_t width;
};

/// Causal attention of one head after the other, by blocks of queries over all keys before them.
/// Scores lie with a row a key and a lane a query, so that a softmax runs down the lanes without a
/// sum across them, and what a block does not see is hardly computed. Sums run in lanes, so bits
/// are not those of kernels/attention.h. Memory is used again.
class Attention {
 public:
  /// Shapes: y [length, width] with rows y_stride apart, log_sums [length].
  void forward(const AttentionHead& head, float* y, std::size_t y_stride, float* log_sums);
  /// They lie as q, k and v do in a head.
  struct Gradients {
    float* q;
    float* k;
    float* v;
  };
  /// dy lies as y did, which is not read: its product with dy is that of weights and their
  /// gradients.
  void backward(const AttentionHead& head, const float* log_sums, const float* dy,
                std::size_t dy_stride, const Gradients& gradients);

 private:
  Room scores_;
  Room dscores_;
  Room turned_;
  Room rows_[3];
};

}  // namespace shoal::ops::cpu
