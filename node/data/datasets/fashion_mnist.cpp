#include <array>
#include <filesystem>

#include "node/data/idx.h"
#include "node/data/registry.h"
#include "ops/base/check.h"

namespace shoal::node {
namespace {

constexpr std::int64_t kClasses = 10;
constexpr std::uint32_t kSide = 28;
constexpr std::size_t kPixels = std::size_t{kSide} * kSide;
// Of the 60,000 training images, pixels in [0, 1].
constexpr double kMean = 0.2860;
constexpr double kDeviation = 0.3530;
constexpr std::uint32_t kNotHeld = ~0U;
constexpr const char* kRemedy =
    "; expected Fashion-MNIST as Debian packs it: apt-get install dataset-fashion-mnist, or set "
    "data.path to a folder with its four .gz files";

struct Part {
  std::string images_path;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> pixels;  ///< of held images, packed
  std::vector<std::uint32_t> slot;   ///< place in `pixels` by index, or kNotHeld
};

Error about(const std::string& path, const Error& error) {
  const bool named = error.message.starts_with(path);
  return data_error((named ? "" : path + " ") + error.message + kRemedy);
}

class FashionMnist final : public Dataset {
 public:
  static Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t /*seed*/) {
    const std::filesystem::path folder = options.get_string("path");
    auto dataset = std::make_unique<FashionMnist>();
    SHOAL_TRY(dataset->open_part(Split::kTrain, folder, "train"));
    SHOAL_TRY(dataset->open_part(Split::kTest, folder, "t10k"));
    return std::unique_ptr<Dataset>(std::move(dataset));
  }

  FashionMnist() {
    for (std::size_t value = 0; value < normal_.size(); ++value) {
      const double pixel = static_cast<double>(value) / 255.0;
      normal_[value] = static_cast<float>((pixel - kMean) / kDeviation);
    }
  }

  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(part(split).labels.size());
  }
  const ops::Port& input() const override { return input_; }
  std::int64_t classes() const override { return kClasses; }
  std::span<const std::int32_t> labels(Split split) const override { return part(split).labels; }
  std::uint64_t held_bytes(std::uint64_t count) const override { return count * kPixels; }

  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    Part& part = parts_[static_cast<std::size_t>(split)];
    std::vector<bool> wanted(part.labels.size(), false);
    for (const std::uint32_t index : indices) {
      if (index >= wanted.size()) {
        return data_error(part.images_path + " has no image " + std::to_string(index));
      }
      wanted[index] = true;
    }
    auto pixels = read_images(part, wanted);
    if (!pixels.ok()) {
      return about(part.images_path, pixels.error());
    }
    part.pixels = std::move(pixels).value();
    part.slot.assign(wanted.size(), kNotHeld);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) {
        part.slot[i] = next++;
      }
    }
    return {};
  }

  Status fill(Split split, std::span<const std::uint32_t> indices, std::span<float> x,
              std::span<std::int32_t> labels) const override {
    SHOAL_CHECK(x.size() == indices.size() * kPixels && labels.size() == indices.size(),
                "a batch has room for its samples");
    const Part& from = part(split);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::uint32_t index = indices[i];
      if (index >= from.slot.size() || from.slot[index] == kNotHeld) {
        return data_error("image " + std::to_string(index) + " of " + from.images_path +
                          " is not held by this peer");
      }
      const std::uint8_t* pixels = &from.pixels[from.slot[index] * kPixels];
      for (std::size_t k = 0; k < kPixels; ++k) {
        x[i * kPixels + k] = normal_[pixels[k]];
      }
      labels[i] = from.labels[index];
    }
    return {};
  }

 private:
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  /// Labels, and the header of the images; their pixels wait for `hold`.
  Status open_part(Split split, const std::filesystem::path& folder, const std::string& stem) {
    Part& part = parts_[static_cast<std::size_t>(split)];
    const std::string labels_path = (folder / (stem + "-labels-idx1-ubyte.gz")).string();
    part.images_path = (folder / (stem + "-images-idx3-ubyte.gz")).string();
    auto labels = read_labels(labels_path);
    if (!labels.ok()) {
      return about(labels_path, labels.error());
    }
    part.labels = std::move(labels).value();
    const auto header = open_images(part);
    return header.ok() ? Status{} : about(part.images_path, header.error());
  }

  static Result<std::vector<std::int32_t>> read_labels(const std::string& path) {
    SHOAL_ASSIGN(const auto source, open_gzip(path));
    return read_idx_labels(*source, kClasses);
  }

  struct Images {
    std::unique_ptr<ByteSource> source;
    IdxHeader header;
  };
  static Result<Images> open_images(const Part& part) {
    Images images;
    SHOAL_ASSIGN(images.source, open_gzip(part.images_path));
    SHOAL_ASSIGN(images.header, read_idx_header(*images.source, 3));
    if (images.header.item_shape != std::vector{kSide, kSide}) {
      return data_error("does not hold images of 28 x 28");
    }
    if (images.header.count != part.labels.size()) {
      return data_error("holds " + std::to_string(images.header.count) + " images, but there are " +
                        std::to_string(part.labels.size()) + " labels");
    }
    return images;
  }

  static Result<std::vector<std::uint8_t>> read_images(const Part& part,
                                                       const std::vector<bool>& wanted) {
    SHOAL_ASSIGN(const Images images, open_images(part));
    return read_idx_items(*images.source, images.header, wanted);
  }

  std::array<Part, 2> parts_;
  std::array<float, 256> normal_{};
  ops::Port input_{ops::Shape{1, kSide, kSide}, false};
};

}  // namespace

DatasetEntry fashion_mnist_dataset() {
  OptionSpec path;
  path.name = "path";
  path.default_value = std::string("/usr/share/datasets/fashion-mnist");
  path.help = "folder with the four .gz files";
  path.scope = Scope::kPeer;
  return {"fashion-mnist",
          "70,000 grey images of clothes, 28 x 28, ten classes",
          {path},
          &FashionMnist::open};
}

}  // namespace shoal::node
