#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/config.h"
#include "ops/base/clock.h"
#include "ops/base/result.h"

namespace shoal::node {

/// One product of a step: c [m, n] = a [m, k] b [n, k]^T, a layer's weight with its input.
struct GemmSpeed {
  std::string layer;
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t k = 0;
  double gflops = 0;
};

/// One model on one device.
struct StepSpeed {
  std::string model;
  std::string device;
  std::uint64_t parameters = 0;
  std::uint64_t batch = 0;
  double gradient_s = 0;   ///< forward, loss and backward of the whole batch
  double optimizer_s = 0;  ///< one step of train.optimizer
  double gflops = 0;       ///< thrice the forward pass's operations over gradient_s, 1e9/s
  double peak_gflops = 0;  ///< of a product of 1024 x 1024 matrices in the same run
  std::vector<GemmSpeed> gemms;

  [[nodiscard]] double step_s() const { return gradient_s + optimizer_s; }
};

/// Times what the configuration trains, on its device, with samples of its data set, over `least`
/// for each figure: the median of steps, the fastest of products, which others only slow. Errors:
/// kConfig, kData, kDevice.
Result<StepSpeed> time_step(const Config& config, Duration least, const Clock& clock);

}  // namespace shoal::node
