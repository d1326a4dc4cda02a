#include "ops/schedule.h"

#include <algorithm>
#include <cmath>

namespace shoal::ops {

double Schedule::part(std::uint64_t since) const {
  const std::uint64_t length =
      total_steps > warmup_steps ? total_steps - warmup_steps : std::uint64_t{1};
  return static_cast<double>(std::min(since, length)) / static_cast<double>(length);
}

double Schedule::at(std::uint64_t step) const {
  if (step < warmup_steps) {
    return lr * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  }
  const std::uint64_t since = step - warmup_steps;
  switch (kind) {
    case Kind::kConstant:
      return lr;
    case Kind::kCosine: {
      constexpr double kPi = 3.14159265358979323846;
      return lr_min + (lr - lr_min) * 0.5 * (1.0 + std::cos(kPi * part(since)));
    }
    case Kind::kLinear:
      return lr_min + (lr - lr_min) * (1.0 - part(since));
    case Kind::kStep: {
      double rate = lr;
      const std::uint64_t drops = since / std::max<std::uint64_t>(step_every, 1);
      double before = 0;
      for (std::uint64_t i = 0; i < drops && rate > lr_min && rate != before; ++i) {
        before = rate;
        rate *= step_factor;
      }
      return std::max(rate, lr_min);
    }
  }
  return lr;
}

const std::vector<OptionSpec>& schedule_options() {
  static const std::vector<OptionSpec> specs = {
      {"lr", OptionType::kFloat, 0.1, "learning rate after the warm-up", 0.0, 1e6, {}, Scope::kRun},
      {"schedule",
       OptionType::kString,
       std::string("constant"),
       "how the learning rate goes on after the warm-up",
       {},
       {},
       {"constant", "cosine", "linear", "step"},
       Scope::kRun},
      {"warmup_steps",
       OptionType::kInt,
       std::int64_t{0},
       "steps over which the learning rate rises linearly",
       0.0,
       1e9,
       {},
       Scope::kRun},
      {"lr_min",
       OptionType::kFloat,
       0.0,
       "the learning rate never falls below this",
       0.0,
       1e6,
       {},
       Scope::kRun},
      {"step_every",
       OptionType::kInt,
       std::int64_t{1000},
       "schedule = \"step\": steps between two drops",
       1.0,
       1e9,
       {},
       Scope::kRun},
      {"step_factor",
       OptionType::kFloat,
       0.1,
       "schedule = \"step\": factor of a drop",
       0.0,
       1.0,
       {},
       Scope::kRun},
  };
  return specs;
}

Result<Schedule> make_schedule(const Options& options, std::uint64_t total_steps) {
  Schedule s;
  const auto& kind = options.get_string("schedule");
  s.kind = kind == "cosine"   ? Schedule::Kind::kCosine
           : kind == "linear" ? Schedule::Kind::kLinear
           : kind == "step"   ? Schedule::Kind::kStep
                              : Schedule::Kind::kConstant;
  s.lr = options.get_float("lr");
  s.warmup_steps = static_cast<std::uint64_t>(options.get_int("warmup_steps"));
  s.total_steps = total_steps;
  s.lr_min = options.get_float("lr_min");
  s.step_every = static_cast<std::uint64_t>(options.get_int("step_every"));
  s.step_factor = options.get_float("step_factor");
  if (s.lr_min > s.lr) {
    return config_error("lr_min is above lr; lower lr_min");
  }
  const bool ends = s.kind == Schedule::Kind::kCosine || s.kind == Schedule::Kind::kLinear;
  if (ends && total_steps <= s.warmup_steps) {
    return config_error("the run has " + std::to_string(total_steps) +
                        " steps, which a warm-up of " + std::to_string(s.warmup_steps) +
                        " leaves nothing of for schedule = \"" + kind + "\"; lower warmup_steps");
  }
  return s;
}

}  // namespace shoal::ops
