#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/conv_sizes.h"

/// The parts of a convolution around its products, on the widest vectors of the machine at hand.
namespace shoal::ops::cpu {

/// Images with their padding, each row split by column modulo the stride, so that what one element
/// of the kernel meets along a row of the result lies side by side.
struct PaddedPlanes {
  /// Rows are so long that a whole vector at the end of one does not reach into the next.
  explicit PaddedPlanes(const ShoalConvSizes& sizes);

  /// What element (ky, kx) of the kernel meets at the first place of the result.
  [[nodiscard]] std::size_t offset(std::size_t ky, std::size_t kx) const {
    const std::size_t right = kx * s.dilation;
    return (right % s.stride * rows + ky * s.dilation) * pitch + right / s.stride;
  }
  [[nodiscard]] std::size_t plane() const { return s.stride * rows * pitch; }

  ShoalConvSizes s;
  std::size_t rows;
  std::size_t pitch;
};

/// Places of the result that lie side by side in planes and in a product, at most a vector.
struct Run {
  std::size_t plane;   ///< element of an image's first plane of the group
  std::size_t column;  ///< of the product
  std::size_t lanes;
};

/// Runs of `images` images in the order of columns, cut where panels of `panel` columns end (0:
/// not). `image_floats` lie between two images' planes.
void make_runs(const PaddedPlanes& planes, std::size_t images, std::size_t image_floats,
               std::size_t lanes, std::size_t panel, std::vector<Run>& runs);

/// channels [count, height, width] into planes, whose padding is 0 already; and back.
void copy_in(const PaddedPlanes& planes, const float* x, std::size_t count, float* to);
void copy_out(const PaddedPlanes& planes, const float* from, std::size_t count, float* x);

/// What a block of channels, beginning with `planes_of`, gives to the columns, in panels.
struct Columns {
  const PaddedPlanes& planes;
  const std::vector<Run>& runs;
  std::size_t channels;
  std::size_t columns;  ///< whole vectors
};
void pack_columns(const Columns& block, const float* planes_of, float* panels);
/// The way back: rows of col [channels * kernel^2, columns] added to the planes they came from.
void add_columns(const Columns& block, const float* col, float* planes_of);

/// One channel of one image of a product, and of y behind pooling.
struct ConvRow {
  const ShoalConvSizes& s;
  bool with_relu;
};
/// As kernels::ConvResult. Reads up to two vectors beyond the product.
void conv_result(const ConvRow& row, const float* product, float bias, float* y,
                 std::uint8_t* argmax);
/// As kernels::ConvResultBackward; gives the sum of what passed. Writes up to two vectors beyond
/// the product.
float conv_result_backward(const ConvRow& row, const float* y, const float* dy,
                           const std::uint8_t* argmax, float* dproduct);

}  // namespace shoal::ops::cpu
