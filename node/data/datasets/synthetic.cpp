#include <array>

#include "node/data/registry.h"
#include "ops/base/check.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kCentres = 0x63656e74726573;  // streams apart from other users of the seed
constexpr std::uint64_t kNoise = 0x6e6f697365;

/// Deviation 1, mean 0, without libm, so that every machine draws the same: a sum of four uniforms.
double bell(Rng& rng) {
  const double sum = rng.uniform() + rng.uniform() + rng.uniform() + rng.uniform();
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
  std::uint64_t held_bytes(std::uint64_t count) const override { return count / 8; }

  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    std::vector<bool> held(size(split), false);
    for (const std::uint32_t index : indices) {
      if (index >= held.size()) {
        return data_error("there is no synthetic sample " + std::to_string(index));
      }
      held[index] = true;
    }
    held_[static_cast<std::size_t>(split)] = std::move(held);
    return {};
  }

  Status fill(Split split, std::span<const std::uint32_t> indices, std::span<float> x,
              std::span<std::int32_t> out) const override {
    SHOAL_CHECK(x.size() == indices.size() * features() && out.size() == indices.size(),
                "a batch has room for its samples");
    const auto& held = held_[static_cast<std::size_t>(split)];
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::uint32_t index = indices[i];
      if (index >= held.size() || !held[index]) {
        return data_error("synthetic sample " + std::to_string(index) +
                          " is not held by this peer");
      }
      out[i] = labels(split)[index];
      Rng rng(seed_, mix(mix(kNoise, static_cast<std::uint64_t>(split)), index));
      const double* centre = &centres_[static_cast<std::size_t>(out[i]) * features()];
      for (std::size_t k = 0; k < features(); ++k) {
        x[i * features() + k] = static_cast<float>(centre[k] + noise_ * bell(rng));
      }
    }
    return {};
  }

 private:
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
  std::array<std::vector<bool>, 2> held_;
};

OptionSpec whole(std::string name, std::int64_t value, double maximum, std::string help) {
  return {std::move(name), OptionType::kInt, value, std::move(help), 1.0, maximum, {}, Scope::kRun};
}

}  // namespace

DatasetEntry synthetic_dataset() {
  return {"synthetic",
          "seeded blobs, one a class, made up on the spot",
          {whole("features", 16, 65536, "numbers of a sample"),
           whole("classes", 4, 1000, "classes"),
           whole("train_samples", 2048, 1e8, "samples to train on"),
           whole("test_samples", 512, 1e8, "samples to test on"),
           {"noise",
            OptionType::kFloat,
            0.5,
            "deviation around a class's centre",
            0.0,
            1e3,
            {},
            Scope::kRun}},
          &Synthetic::open};
}

}  // namespace shoal::node
