#pragma once

#include <cstdint>

namespace shoal::ops {

/// Which rule of update_rules.inc moves the parameters. The numbers are part of the CUDA table.
enum class UpdateRule : std::int32_t {
  kSgd = 0,
  kMomentum = 1,
  kNesterov = 2,
  kLars = 3,
  kAdamw = 4,
  kAdagrad = 5,
  kAdagradMomentum = 6,
  kYogi = 7,
  kLamb = 8,
};
inline constexpr std::int32_t kUpdateRuleCount = 9;

/// Whether a rule remembers directions (a mean of gradients).
constexpr bool has_first(UpdateRule rule) {
  return rule != UpdateRule::kSgd && rule != UpdateRule::kAdagrad;
}
/// Whether a rule remembers squares of gradients.
constexpr bool has_second(UpdateRule rule) {
  return rule == UpdateRule::kAdamw || rule == UpdateRule::kAdagrad ||
         rule == UpdateRule::kAdagradMomentum || rule == UpdateRule::kYogi ||
         rule == UpdateRule::kLamb;
}

/// Numbers of one step. Each is computed in double by plain IEEE operations, the same on every
/// machine, and rounded once to the type of the arrays.
template <typename T>
struct UpdateNumbers {
  T rate = 0;   ///< times the direction
  T decay = 0;  ///< times the parameter; 0: nothing is added
  T beta1 = 0;  ///< what stays of the remembered direction
  T keep1 = 1;  ///< what comes of the new one
  T beta2 = 0;  ///< alike, of squares
  T keep2 = 1;
  T epsilon = 0;
  T correction1 = 1;  ///< times the remembered direction
  T correction2 = 1;  ///< times the root of the remembered squares

  template <typename To>
  UpdateNumbers<To> rounded() const {
    return {static_cast<To>(rate),    static_cast<To>(decay),       static_cast<To>(beta1),
            static_cast<To>(keep1),   static_cast<To>(beta2),       static_cast<To>(keep2),
            static_cast<To>(epsilon), static_cast<To>(correction1), static_cast<To>(correction2)};
  }
};

/// Arrays of one step, element by element side by side. `first` and `second` are null for rules
/// without them; `result` is `parameters`, but for kLamb where the direction goes.
template <typename T>
struct UpdateArrays {
  T* result;
  const T* parameters;
  const T* gradients;
  T* first;
  T* second;
};

}  // namespace shoal::ops
