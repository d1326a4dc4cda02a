#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/base/options.h"
#include "ops/base/result.h"

namespace shoal::ops {

/// Learning rate by global step: a base rate, a shape over the run, and a linear warm-up before.
struct Schedule {
  enum class Kind : std::uint8_t { kConstant, kCosine, kLinear, kStep };

  Kind kind = Kind::kConstant;
  double lr = 0.1;
  std::uint64_t warmup_steps = 0;  ///< lr rises from lr/warmup_steps to lr over these steps
  std::uint64_t total_steps = 0;   ///< cosine, linear: where lr_min is reached, warm-up included
  double lr_min = 0;
  std::uint64_t step_every = 1;  ///< step: rate is multiplied by step_factor each step_every steps
  double step_factor = 0.1;

  /// The rate of step `step`, counted from 0. cos() is libm's: compute it once and send it.
  /// Source: cosine as in Loshchilov and Hutter, arXiv 1608.03983, equation 5, without restarts.
  [[nodiscard]] double at(std::uint64_t step) const;

 private:
  /// How far a step is, from 0 after the warm-up to 1 at total_steps.
  [[nodiscard]] double part(std::uint64_t since) const;
};

/// The keys of a schedule: lr, schedule, warmup_steps, lr_min, step_every, step_factor.
const std::vector<OptionSpec>& schedule_options();
/// Requires: options passed schedule_options(). Errors: kConfig for a cosine or line that
/// ends in its warm-up.
Result<Schedule> make_schedule(const Options& options, std::uint64_t total_steps);

}  // namespace shoal::ops
