#pragma once

#include <cstddef>
#include <vector>

#include "ops/cpu/conv.h"
#include "ops/cpu/pooled_conv.h"
#include "ops/cpu/product.h"
#include "ops/cpu/room.h"
#include "ops/reference/host_conv.h"

namespace shoal::ops {

/// Convolutions as products over tiles of a few images that stay in the second cache: columns are
/// laid out for the kernel of product.h directly, and bias, activation and pooling are applied to a
/// tile while it is near.
class CpuConvOps : public virtual HostConvOps<float> {
 public:
  void conv2d(const ConvSizes& sizes, ConstTensorView x, ConstTensorView weight,
              ConstTensorView bias, Activation activation, TensorView y,
              TensorView argmax) override;
  void conv2d_backward(const ConvSizes& sizes, const ConvBackward& pass) override;

  /// Bytes of each memory that convolutions of these sizes keep, both ways, for the next to use.
  static std::vector<std::size_t> scratch_bytes(const ConvSizes& sizes);
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  struct Tile;
  static constexpr std::size_t kRooms =
      7;  // of scratch_bytes(), before those of PooledConvBackward
  void forward_tile(const Tile& tile, const float* weight);
  void backward_result(const Tile& tile, const ConvBackward& pass, std::size_t group);
  void weight_gradient(const Tile& tile, std::size_t group, bool first);
  void input_gradient(const Tile& tile, std::size_t group);
  void copy_input_gradient(const Tile& tile, std::size_t group, float* dx);
  void put_gradients(const Tile& tile, const ConvBackward& pass);
  void fill_planes(const Tile& tile, const float* x, std::size_t group);
  void transpose_weight(const ConvSizes& sizes, const float* weight);

  cpu::Room planes_;
  cpu::Room dplanes_;
  cpu::Room columns_;
  cpu::Room product_;
  cpu::Room dweight_;
  cpu::Room weight_;
  std::vector<float> dbias_;
  std::vector<cpu::Run> runs_;  // cut at panels
  std::vector<cpu::Run> rows_;  // whole
  cpu::PackedMatrix packed_;
  PooledConvBackward pooled_;
};

}  // namespace shoal::ops
