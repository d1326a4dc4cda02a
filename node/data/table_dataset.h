#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "node/data/dataset.h"
#include "node/data/held.h"

namespace shoal::node {

/// Rows of reals, each with a class or with reals to predict. A data set of this kind says how its
/// files are read; targets are in memory from the start, features once they are held.
class TableDataset : public Dataset {
 public:
  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(part(split).labels.size());
  }
  const ops::Port& input() const override { return input_; }
  const ops::Port& target() const override { return target_; }
  std::int64_t classes() const override { return classes_; }
  std::span<const std::int32_t> labels(Split split) const override { return part(split).labels; }
  std::uint64_t held_bytes(std::uint64_t count) const override {
    return count * sizeof(float) * input_.shape.elements();
  }
  Status hold(Split split, std::span<const std::uint32_t> indices) override;

 protected:
  struct Part {
    std::string name;                  ///< the file, for errors
    std::vector<std::int32_t> labels;  ///< classes, or 0 for each sample
    std::vector<float> targets;        ///< reals to predict, of all samples; empty with classes
    Held held;
    std::vector<float> x;  ///< of held samples, packed
  };

  /// `target` of rank 0 and an index: classes.
  void set_ports(ops::Shape input, ops::Port target, std::int64_t classes);
  [[nodiscard]] Part& part(Split split) { return parts_[static_cast<std::size_t>(split)]; }
  [[nodiscard]] const Part& part(Split split) const {
    return parts_[static_cast<std::size_t>(split)];
  }
  /// Features of the samples wanted, packed in order. Errors: kData, naming file and remedy.
  [[nodiscard]] virtual Result<std::vector<float>> read(Split split, const Held& wanted) const = 0;
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override;

 private:
  std::array<Part, 2> parts_;
  ops::Port input_;
  ops::Port target_;
  std::int64_t classes_ = 0;
};

}  // namespace shoal::node
