#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "node/data/byte_reals.h"
#include "ops/base/options.h"
#include "ops/base/result.h"

namespace shoal::node {

/// A byte image: channels, height, width, row-major.
struct ImageSize {
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;

  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(channels * height * width);
  }
};

/// How the training images of a data set are changed at random.
struct Augment {
  bool crop_flip = false;
  std::int64_t padding = 0;  ///< pixels of black on each side that a crop may take in

  /// The keys `augment` and `crop_padding` of a data set's options.
  static std::vector<OptionSpec> options();
  /// Errors: kConfig when images of this size can't be cropped.
  static Result<Augment> make(const Options& options, const ImageSize& size);
};

/// Where a crop begins and whether it is mirrored.
struct Crop {
  std::int64_t top = 0;   ///< in [-padding, padding]
  std::int64_t left = 0;  ///< alike
  bool flip = false;
  friend bool operator==(const Crop&, const Crop&) = default;
};

/// Drawn from (seed, step, index) alone: the same on every machine and thread, whatever else was
/// drawn.
Crop draw_crop(std::uint64_t seed, std::uint64_t step, std::uint32_t index, std::int64_t padding);

/// One image in reals, moved and mirrored as `crop` says; what lies outside is black (byte 0).
/// Shapes: pixels [C, H, W], channels [C], out [C, H, W].
void put_image(const ImageSize& size, std::span<const std::uint8_t> pixels, const Crop& crop,
               std::span<const Affine> channels, std::span<float> out);

}  // namespace shoal::node
