#pragma once

#include <cstddef>
#include <vector>

#include "ops/cpu/room.h"
#include "ops/cpu/terms.h"
#include "ops/device/conv_ops.h"

namespace shoal::ops {

/// The way back through a convolution with max pooling: only one place of each window has a
/// gradient, and none where ReLU cut, so gradients are sums over those places instead of products
/// over all. Images lie pixel by pixel with channels side by side: what one row of the kernel meets
/// is one run of numbers, in x as in the weights.
class PooledConvBackward {
 public:
  /// Whether this is the cheaper way: windows, and runs that fill vectors.
  static bool suits(const ConvSizes& sizes);
  /// As ConvOps::conv2d_backward. Requires: suits().
  void run(const ConvSizes& sizes, const ConvBackward& pass);
  /// Bytes of each memory that is kept for such sizes. Requires: suits().
  static std::vector<std::size_t> scratch_bytes(const ConvSizes& sizes);
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  struct Layout;
  void choose(const Layout& at, const ConvBackward& pass, std::size_t image);
  void sort_by_place(const Layout& at);
  void lay_out_weight(const Layout& at, const float* weight);
  void weight_gradient(const Layout& at, const float* x);
  void input_gradient(const Layout& at, float* dx);
  void put_gradients(const Layout& at, const ConvBackward& pass);

  cpu::Room pixels_;
  cpu::Room weight_;
  cpu::Room dweight_;
  std::vector<float> dbias_;
  // Of one image: places with a gradient, by channel out and by place.
  std::vector<cpu::Term> chosen_;
  std::vector<std::uint32_t> places_;  // of chosen_
  std::vector<std::size_t> ends_;      // of each channel in chosen_
  std::vector<cpu::Term> by_place_;
  std::vector<std::size_t> starts_;  // of each place in by_place_
};

}  // namespace shoal::ops
