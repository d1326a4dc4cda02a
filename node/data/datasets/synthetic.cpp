#include <array>

#include "node/data/held.h"
#include "node/data/registry.h"
#include "node/data/specs.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kCentres = 0x63656e74726573;  // streams apart from other users of the seed
constexpr std::uint64_t kNoise = 0x6e6f697365;

/// Deviation 1, mean 0, without libm, so that every machine draws the same: a sum of four uniforms.
double bell(Rng& rng) {
  double sum = 0;  // one after the other: C++ does not say in which order operands are called
  for (int i = 0; i < 4; ++i) {
    sum += rng.uniform();
  }
  return (sum - 2.0) * 1.7320508075688772;  // four uniforms have variance 1/3
}

/// A blob around a random centre for each class; sample i is of class i mod classes.
class Synthetic final : public Dataset {
 public:
  static Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
    return std::unique_ptr<Dataset>(std::make_unique<Synthetic>(options, seed));
  }

  Synthetic(const Options& options, std::uint64_t seed)
      : seed_(seed),
        classes_(options.get_int("classes")),
        noise_(options.get_float("noise")),
        input_{ops::Shape{options.get_int("features")}, false} {
    Rng rng(seed, kCentres);
    centres_.resize(static_cast<std::size_t>(classes_) * features());
    for (double& coordinate : centres_) {
      coordinate = 4 * rng.uniform() - 2;
    }
    make_labels(Split::kTrain, options.get_int("train_samples"));
    make_labels(Split::kTest, options.get_int("test_samples"));
  }

  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(labels(split).size());
  }
  const ops::Port& input() const override { return input_; }
  std::int64_t classes() const override { return classes_; }
  std::span<const std::int32_t> labels(Split split) const override {
    return labels_[static_cast<std::size_t>(split)];
  }
  std::uint64_t held_bytes(std::uint64_t count) const override { return count * 4; }

  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    SHOAL_ASSIGN(held_[static_cast<std::size_t>(split)],
                 Held::make(indices, size(split), "synthetic"));
    return {};
  }

 protected:
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override {
    const auto split = static_cast<std::size_t>(pick.split);
    SHOAL_TRY(held_[split].check(pick.indices, "synthetic"));
    float* out = x.as<float>();
    std::int32_t* label = targets.as<std::int32_t>();
    for (const std::uint32_t index : pick.indices) {
      *label = labels_[split][index];
      Rng rng(seed_, mix(mix(kNoise, split), index));
      const double* centre = &centres_[static_cast<std::size_t>(*label++) * features()];
      for (std::size_t k = 0; k < features(); ++k) {
        *out++ = static_cast<float>(centre[k] + noise_ * bell(rng));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::size_t features() const { return input_.shape.elements(); }

  void make_labels(Split split, std::int64_t count) {
    auto& labels = labels_[static_cast<std::size_t>(split)];
    for (std::int64_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<std::int32_t>(i % classes_));
    }
  }

  std::uint64_t seed_;
  std::int64_t classes_;
  double noise_;
  ops::Port input_;
  std::vector<double> centres_;  // [classes, features]
  std::array<std::vector<std::int32_t>, 2> labels_;
  std::array<Held, 2> held_;
};

}  // namespace

DatasetEntry synthetic_dataset() {
  return {"synthetic",
          "seeded blobs, one a class, made up on the spot",
          {int_option("features", 16, 1, 65536, "numbers of a sample"),
           int_option("classes", 4, 1, 1000, "classes"),
           int_option("train_samples", 2048, 1, 1e8, "samples to train on"),
           int_option("test_samples", 512, 1, 1e8, "samples to test on"),
           float_option("noise", 0.5, 0, 1e3, "deviation around a class's centre")},
          &Synthetic::open};
}

}  // namespace shoal::node
