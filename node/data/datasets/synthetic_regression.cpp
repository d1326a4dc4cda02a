#include <array>

#include "node/data/exact_normal.h"
#include "node/data/held.h"
#include "node/data/registry.h"
#include "node/data/specs.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kWeights = 0x72656772657377;  // streams apart from other users of the seed
constexpr std::uint64_t kSample = 0x72656772657373;

/// y = w x + b + noise, with normal x, and w of length about 1.
class SyntheticRegression final : public Dataset {
 public:
  SyntheticRegression(const Options& options, std::uint64_t seed)
      : seed_(seed),
        noise_(options.get_float("noise")),
        input_{ops::Shape{options.get_int("features")}, false} {
    Rng rng(seed, kWeights);
    const double scale = 1 / std::sqrt(static_cast<double>(input_.shape.elements()));
    bias_ = exact_normal(rng);
    for (std::size_t j = 0; j < input_.shape.elements(); ++j) {
      weights_.push_back(scale * exact_normal(rng));
    }
    labels_[0].assign(static_cast<std::size_t>(options.get_int("train_samples")), 0);
    labels_[1].assign(static_cast<std::size_t>(options.get_int("test_samples")), 0);
  }

  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(labels(split).size());
  }
  const ops::Port& input() const override { return input_; }
  const ops::Port& target() const override { return target_; }
  std::int64_t classes() const override { return 1; }
  std::span<const std::int32_t> labels(Split split) const override {
    return labels_[static_cast<std::size_t>(split)];
  }
  std::uint64_t held_bytes(std::uint64_t count) const override { return count * 4; }

  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    SHOAL_ASSIGN(held_[static_cast<std::size_t>(split)],
                 Held::make(indices, size(split), "synthetic-regression"));
    return {};
  }

 protected:
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override {
    const auto split = static_cast<std::size_t>(pick.split);
    SHOAL_TRY(held_[split].check(pick.indices, "synthetic-regression"));
    float* out = x.as<float>();
    float* target = targets.as<float>();
    for (const std::uint32_t index : pick.indices) {
      Rng rng(seed_, mix(mix(kSample, split), index));
      double y = bias_;
      for (const double weight : weights_) {
        const double value = exact_normal(rng);
        y += weight * value;
        *out++ = static_cast<float>(value);
      }
      *target++ = static_cast<float>(y + noise_ * exact_normal(rng));
    }
    return {};
  }

 private:
  std::uint64_t seed_;
  double noise_;
  ops::Port input_;
  ops::Port target_{ops::Shape{1}, false};
  double bias_ = 0;
  std::vector<double> weights_;
  std::array<std::vector<std::int32_t>, 2> labels_;  // 0 for each sample
  std::array<Held, 2> held_;
};

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  return std::unique_ptr<Dataset>(std::make_unique<SyntheticRegression>(options, seed));
}

}  // namespace

DatasetEntry synthetic_regression_dataset() {
  return {"synthetic-regression",
          "seeded linear function with noise, a number to predict",
          {int_option("features", 16, 1, 65536, "numbers of a sample"),
           int_option("train_samples", 2048, 1, 1e8, "samples to train on"),
           int_option("test_samples", 512, 1, 1e8, "samples to test on"),
           float_option("noise", 0.1, 0, 1e3, "deviation of what can't be predicted")},
          open};
}

}  // namespace shoal::node
