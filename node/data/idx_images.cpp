#include "node/data/idx_images.h"

#include <algorithm>

#include "node/data/idx.h"

namespace shoal::node {
namespace {

constexpr std::int64_t kByteValues = 256;

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text;
  for (const std::uint32_t size : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text;
}

class IdxImages final : public ImageDataset {
 public:
  explicit IdxImages(IdxFiles files) : files_(std::move(files)) {}

  Status open(const Options& options, std::uint64_t seed) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      part(split).name = pair(split).images;
      SHOAL_TRY(open_labels(split));
      auto images = open_images(split);
      if (!images.ok()) {
        return about_file(pair(split).images, images.error(), files_.remedy);
      }
      files_.item_shape = images->header.item_shape;  // the test images must be alike
    }
    return decide_format(options, seed);
  }

 protected:
  Result<std::vector<std::uint8_t>> read(Split split, const Held& wanted) const override {
    auto images = open_images(split);
    if (!images.ok()) {
      return about_file(pair(split).images, images.error(), files_.remedy);
    }
    auto pixels = read_idx_items(*images->source, images->header, wanted);
    if (!pixels.ok()) {
      return about_file(pair(split).images, pixels.error(), files_.remedy);
    }
    return pixels;
  }

 private:
  struct Images {
    std::unique_ptr<ByteSource> source;
    IdxHeader header;
  };

  const IdxFiles::Pair& pair(Split split) const {
    return files_.splits[static_cast<std::size_t>(split)];
  }

  Status open_labels(Split split) {
    const std::string& path = pair(split).labels;
    auto labels = read_labels(path, files_.classes == 0 ? kByteValues : files_.classes);
    if (!labels.ok()) {
      return about_file(path, labels.error(), files_.remedy);
    }
    part(split).labels = std::move(labels).value();
    if (files_.classes == 0) {
      const auto& all = part(split).labels;
      files_.classes = *std::max_element(all.begin(), all.end()) + 1;
    }
    return {};
  }

  static Result<std::vector<std::int32_t>> read_labels(const std::string& path,
                                                       std::int64_t classes) {
    SHOAL_ASSIGN(const auto source, open_bytes(path));
    return read_idx_labels(*source, classes);
  }

  Result<Images> open_images(Split split) const {
    Images images;
    SHOAL_ASSIGN(images.source, open_bytes(pair(split).images));
    const auto& shape = files_.item_shape;
    const auto rank = static_cast<std::uint32_t>(shape.size()) + 1;
    SHOAL_ASSIGN(images.header, shape.empty() ? read_idx_header(*images.source, 2, 4)
                                              : read_idx_header(*images.source, rank, rank));
    if (!shape.empty() && images.header.item_shape != shape) {
      return data_error("does not hold images of " + shape_text(shape) + ", but of " +
                        shape_text(images.header.item_shape));
    }
    const std::size_t labels = part(split).labels.size();
    if (images.header.count != labels) {
      return data_error("holds " + std::to_string(images.header.count) + " images, but there are " +
                        std::to_string(labels) + " labels in " + pair(split).labels);
    }
    return images;
  }

  Status decide_format(const Options& options, std::uint64_t seed) {
    Format format;
    const auto& shape = files_.item_shape;
    format.size.width = shape.back();
    format.size.height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    format.size.channels = shape.size() < 3 ? 1 : shape.front();
    const ImageSize& size = format.size;
    format.shape = shape.size() == 1 ? ops::Shape{size.width}
                                     : ops::Shape{size.channels, size.height, size.width};
    format.classes = files_.classes;
    format.means.assign(static_cast<std::size_t>(size.channels), files_.mean);
    format.deviations.assign(static_cast<std::size_t>(size.channels), files_.deviation);
    SHOAL_ASSIGN(format.augment, Augment::make(options, size));
    format.seed = seed;
    set_format(std::move(format));
    return {};
  }

  IdxFiles files_;
};

}  // namespace

Result<std::unique_ptr<Dataset>> open_idx_images(IdxFiles files, const Options& options,
                                                 std::uint64_t seed) {
  auto dataset = std::make_unique<IdxImages>(std::move(files));
  SHOAL_TRY(dataset->open(options, seed));
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace shoal::node
