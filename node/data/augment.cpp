#include "node/data/augment.h"

#include <algorithm>

#include "node/data/specs.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kDomain = 0x63726f70666c6970;  // apart from other users of the seed

/// One channel of a crop.
void put_moved(const ImageSize& size, const std::uint8_t* in, const Crop& crop,
               const Affine& affine, float* out) {
  // Columns of a row, before mirroring, that lie inside the image.
  const auto first = std::clamp<std::int64_t>(-crop.left, 0, size.width);
  const auto last = std::clamp<std::int64_t>(size.width - crop.left, first, size.width);
  for (std::int64_t y = 0; y < size.height; ++y) {
    float* row = out + y * size.width;
    float* end = row + size.width;
    const std::int64_t from = y + crop.top;
    if (from < 0 || from >= size.height || first == last) {
      std::fill(row, end, affine.offset);
      continue;
    }
    std::fill(row, row + first, affine.offset);
    put_reals(in + from * size.width + first + crop.left, static_cast<std::size_t>(last - first),
              affine, row + first);
    std::fill(row + last, end, affine.offset);
    if (crop.flip) {
      std::reverse(row, end);
    }
  }
}

}  // namespace

std::vector<OptionSpec> Augment::options() {
  return {
      choice_option("augment", {"none", "crop-flip"}, "how training images are changed at random"),
      int_option("crop_padding", 4, 0, 1024, "pixels of black around an image to crop from")};
}

Result<Augment> Augment::make(const Options& options, const ImageSize& size) {
  Augment augment;
  augment.crop_flip = options.get_string("augment") == "crop-flip";
  augment.padding = options.get_int("crop_padding");
  if (augment.crop_flip && (size.height < 2 || size.width < 2)) {
    return config_error("data.augment is crop-flip, but the samples are no images of two sides");
  }
  return augment;
}

Crop draw_crop(std::uint64_t seed, std::uint64_t step, std::uint32_t index, std::int64_t padding) {
  Rng rng(seed, mix(mix(kDomain, step), index));
  const auto places = static_cast<std::uint64_t>(2 * padding + 1);
  Crop crop;
  crop.top = static_cast<std::int64_t>(rng.below(places)) - padding;
  crop.left = static_cast<std::int64_t>(rng.below(places)) - padding;
  crop.flip = (rng.next_u32() & 1U) != 0;
  return crop;
}

void put_image(const ImageSize& size, std::span<const std::uint8_t> pixels, const Crop& crop,
               std::span<const Affine> channels, std::span<float> out) {
  const auto width = static_cast<std::size_t>(size.width);
  const std::size_t plane = width * static_cast<std::size_t>(size.height);
  const std::uint8_t* in = pixels.data();
  float* to = out.data();
  for (const Affine& affine : channels) {
    if (crop == Crop{}) {
      put_reals(in, plane, affine, to);
    } else {
      put_moved(size, in, crop, affine, to);
    }
    in += plane;
    to += plane;
  }
}

}  // namespace shoal::node
