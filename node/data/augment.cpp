#include "node/data/augment.h"

#include <algorithm>

#include "node/data/specs.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kDomain = 0x63726f70666c6970;  // apart from other users of the seed

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
               std::span<const float> normal, std::span<float> out) {
  const auto width = static_cast<std::size_t>(size.width);
  // Columns of a row, before mirroring, that lie inside the image.
  const auto first = std::clamp<std::int64_t>(-crop.left, 0, size.width);
  const auto last = std::clamp<std::int64_t>(size.width - crop.left, first, size.width);
  for (std::int64_t c = 0; c < size.channels; ++c) {
    const float* table = &normal[static_cast<std::size_t>(c) * 256];
    for (std::int64_t y = 0; y < size.height; ++y) {
      float* row = &out[static_cast<std::size_t>(c * size.height + y) * width];
      const std::int64_t from = y + crop.top;
      if (from < 0 || from >= size.height) {
        std::fill_n(row, width, table[0]);
        continue;
      }
      const std::uint8_t* source =
          pixels.data() + static_cast<std::size_t>(c * size.height + from) * width;
      std::fill_n(row, first, table[0]);
      for (std::int64_t x = first; x < last; ++x) {
        row[x] = table[source[x + crop.left]];
      }
      std::fill(row + last, row + width, table[0]);
      if (crop.flip) {
        std::reverse(row, row + width);
      }
    }
  }
}

}  // namespace shoal::node
