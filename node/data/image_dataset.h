#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "node/data/augment.h"
#include "node/data/dataset.h"
#include "node/data/held.h"

namespace shoal::node {

/// Byte images with a class each, normalised by a mean and a deviation for each channel. A data
/// set of this kind says how its files are read.
class ImageDataset : public Dataset {
 public:
  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(part(split).labels.size());
  }
  const ops::Port& input() const override { return input_; }
  std::int64_t classes() const override { return classes_; }
  std::span<const std::int32_t> labels(Split split) const override { return part(split).labels; }
  std::uint64_t held_bytes(std::uint64_t count) const override { return count * size_.pixels(); }
  Status hold(Split split, std::span<const std::uint32_t> indices) override;

 protected:
  /// What opening found out.
  struct Format {
    ops::Shape shape;  ///< of a sample as a model takes it
    ImageSize size;    ///< the same as an image
    std::int64_t classes = 0;
    std::vector<double> means;  ///< of pixels in [0, 1], one a channel
    std::vector<double> deviations;
    Augment augment;
    std::uint64_t seed = 0;  ///< of augmentation
  };
  struct Part {
    std::string name;  ///< the file, for errors
    std::vector<std::int32_t> labels;
    Held held;
    std::vector<std::uint8_t> pixels;  ///< of held images, packed
  };

  void set_format(Format format);
  [[nodiscard]] Part& part(Split split) { return parts_[static_cast<std::size_t>(split)]; }
  [[nodiscard]] const Part& part(Split split) const {
    return parts_[static_cast<std::size_t>(split)];
  }
  /// Pixels of the images wanted, packed in order. Errors: kData, naming file and remedy.
  [[nodiscard]] virtual Result<std::vector<std::uint8_t>> read(Split split,
                                                               const Held& wanted) const = 0;
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override;

 private:
  std::array<Part, 2> parts_;
  ops::Port input_;
  ImageSize size_;
  std::int64_t classes_ = 0;
  Augment augment_;
  std::uint64_t seed_ = 0;
  std::vector<Affine> channels_;
};

}  // namespace shoal::node
