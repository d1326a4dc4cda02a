#include <algorithm>
#include <array>

#include "node/data/exact_normal.h"
#include "node/data/held.h"
#include "node/data/registry.h"
#include "node/data/specs.h"

namespace shoal::node {
namespace {

constexpr std::size_t kFeatures = 60;
constexpr std::size_t kClasses = 10;
// Streams apart from other users of the seed.
constexpr std::uint64_t kDevice = 0x616c7068612d62;
constexpr std::uint64_t kSample = 0x616c7068612d73;
constexpr double kDeviceSamplesMax = 1e5;  // a rare draw must not fill the memory

/// Where a device's samples come from: y = argmax(W x + b).
struct Device {
  std::array<std::array<double, kFeatures>, kClasses> weights{};
  std::array<double, kClasses> biases{};
  std::array<double, kFeatures> means{};  // of x
  std::uint32_t samples = 0;
};

Device draw_device(std::uint64_t seed, std::uint64_t number, double alpha, double beta) {
  Rng rng(seed, mix(kDevice, number));
  Device device;
  const auto size = ops::kernels::exp_exact(static_cast<float>(4 + 2 * exact_normal(rng)));
  device.samples =
      50 + static_cast<std::uint32_t>(std::min(static_cast<double>(size), kDeviceSamplesMax));
  const double model = alpha * exact_normal(rng);
  const double place = beta * exact_normal(rng);
  for (auto& row : device.weights) {
    for (double& weight : row) {
      weight = model + exact_normal(rng);
    }
  }
  for (double& bias : device.biases) {
    bias = model + exact_normal(rng);
  }
  for (double& mean : device.means) {
    mean = place + exact_normal(rng);
  }
  return device;
}

/// Sums in the order of features; softmax keeps the order of scores. The first of equals.
std::int32_t label_of(const Device& device, const std::array<double, kFeatures>& x) {
  std::size_t best = 0;
  double best_score = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    double score = device.biases[c];
    for (std::size_t j = 0; j < kFeatures; ++j) {
      score += device.weights[c][j] * x[j];
    }
    if (c == 0 || score > best_score) {
      best = c;
      best_score = score;
    }
  }
  return static_cast<std::int32_t>(best);
}

class SyntheticAlphaBeta final : public Dataset {
 public:
  SyntheticAlphaBeta(const Options& options, std::uint64_t seed) : seed_(seed) {
    for (std::size_t j = 0; j < kFeatures; ++j) {  // variance j^-1.2, j from 1
      const float log = ops::kernels::log_exact(static_cast<float>(j + 1));
      deviations_[j] = static_cast<double>(ops::kernels::exp_exact(-0.6F * log));
    }
    const std::int64_t devices = options.get_int("devices");
    for (std::int64_t k = 0; k < devices; ++k) {
      devices_.push_back(draw_device(seed, static_cast<std::uint64_t>(k),
                                     options.get_float("alpha"), options.get_float("beta")));
      add_samples(static_cast<std::uint32_t>(k));
    }
  }

  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(part(split).labels.size());
  }
  const ops::Port& input() const override { return input_; }
  std::int64_t classes() const override { return kClasses; }
  std::span<const std::int32_t> labels(Split split) const override { return part(split).labels; }
  std::span<const std::uint32_t> holders() const override { return parts_[0].devices; }
  std::uint64_t held_bytes(std::uint64_t count) const override { return count * 4; }

  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    SHOAL_ASSIGN(parts_[static_cast<std::size_t>(split)].held,
                 Held::make(indices, size(split), "synthetic-alpha-beta"));
    return {};
  }

 protected:
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override {
    const Part& from = part(pick.split);
    SHOAL_TRY(from.held.check(pick.indices, "synthetic-alpha-beta"));
    float* out = x.as<float>();
    std::int32_t* label = targets.as<std::int32_t>();
    for (const std::uint32_t index : pick.indices) {
      const auto sample = draw(from.devices[index], from.numbers[index]);
      out = std::transform(sample.begin(), sample.end(), out,
                           [](double value) { return static_cast<float>(value); });
      *label++ = from.labels[index];
    }
    return {};
  }

 private:
  struct Part {
    std::vector<std::int32_t> labels;
    std::vector<std::uint32_t> devices;  ///< of each sample
    std::vector<std::uint32_t> numbers;  ///< of each sample within its device
    Held held;
  };
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  [[nodiscard]] std::array<double, kFeatures> draw(std::uint32_t device,
                                                   std::uint32_t number) const {
    Rng rng(seed_, mix(mix(kSample, device), number));
    std::array<double, kFeatures> x{};
    for (std::size_t j = 0; j < kFeatures; ++j) {
      x[j] = devices_[device].means[j] + deviations_[j] * exact_normal(rng);
    }
    return x;
  }

  /// Nine in ten of a device's samples are to train on.
  void add_samples(std::uint32_t k) {
    const Device& device = devices_[k];
    const std::uint32_t tests = device.samples / 10;
    for (std::uint32_t i = 0; i < device.samples; ++i) {
      Part& part = parts_[i < device.samples - tests ? 0 : 1];
      part.labels.push_back(label_of(device, draw(k, i)));
      part.devices.push_back(k);
      part.numbers.push_back(i);
    }
  }

  std::uint64_t seed_;
  std::array<double, kFeatures> deviations_{};
  std::vector<Device> devices_;
  std::array<Part, 2> parts_;
  ops::Port input_{ops::Shape{static_cast<std::int64_t>(kFeatures)}, false};
};

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  return std::unique_ptr<Dataset>(std::make_unique<SyntheticAlphaBeta>(options, seed));
}

}  // namespace

/// Source: T. Li et al., "Federated optimization in heterogeneous networks", arXiv 1812.06127,
/// section 5.1, with alpha and beta as deviations, as in the authors' program. Sizes are lognormal
/// (4, 2) plus 50, cut at 100,000; the random numbers are ours, and every machine's alike.
DatasetEntry synthetic_alpha_beta_dataset() {
  return {"synthetic-alpha-beta",
          "FedProx's synthetic(alpha, beta): 60 numbers, ten classes, devices that differ",
          {float_option("alpha", 1, 0, 100, "how much devices' models differ"),
           float_option("beta", 1, 0, 100, "how much devices' samples differ"),
           int_option("devices", 30, 1, 4096, "devices; partition natural gives each to a peer")},
          open};
}

}  // namespace shoal::node
