#include "node/data/image_dataset.h"

#include "ops/base/check.h"

namespace shoal::node {

void ImageDataset::set_format(Format format) {
  SHOAL_CHECK(format.shape.elements() == format.size.pixels() &&
                  format.means.size() == static_cast<std::size_t>(format.size.channels) &&
                  format.deviations.size() == format.means.size(),
              "an image has one size, and a mean for each channel");
  input_ = {format.shape, false};
  size_ = format.size;
  classes_ = format.classes;
  augment_ = format.augment;
  seed_ = format.seed;
  channels_.clear();
  for (std::size_t c = 0; c < format.means.size(); ++c) {
    channels_.push_back(Affine::normal(format.means[c], format.deviations[c]));
  }
}

Status ImageDataset::hold(Split split, std::span<const std::uint32_t> indices) {
  Part& part = this->part(split);
  SHOAL_ASSIGN(Held held, Held::make(indices, size(split), part.name));
  SHOAL_ASSIGN(std::vector<std::uint8_t> pixels, read(split, held));
  SHOAL_CHECK(pixels.size() == held.count() * size_.pixels(), "what is wanted is read");
  part.held = std::move(held);
  part.pixels = std::move(pixels);
  return {};
}

Status ImageDataset::do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const {
  const Part& from = part(pick.split);
  SHOAL_TRY(from.held.check(pick.indices, from.name));
  const std::size_t pixels = size_.pixels();
  const auto out = x.span<float>();
  const auto labels = targets.span<std::int32_t>();
  const bool changed = augment_.crop_flip && pick.split == Split::kTrain;
  for (std::size_t i = 0; i < pick.indices.size(); ++i) {
    const std::uint32_t index = pick.indices[i];
    if (i + 1 < pick.indices.size()) {
      fetch_bytes(from.pixels.data() + from.held.slot(pick.indices[i + 1]) * pixels, pixels);
    }
    const Crop crop = changed ? draw_crop(seed_, pick.step, index, augment_.padding) : Crop{};
    put_image(size_, std::span(from.pixels).subspan(from.held.slot(index) * pixels, pixels), crop,
              channels_, out.subspan(i * pixels, pixels));
    labels[i] = from.labels[index];
  }
  return {};
}

}  // namespace shoal::node
