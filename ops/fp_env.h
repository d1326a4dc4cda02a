#pragma once

namespace shoal::ops {

/// Puts the calling thread into IEEE arithmetic: round to nearest, denormals kept, no traps. A
/// loaded library may have set flush-to-zero; call this first in every thread that computes.
void set_strict_fp_env() noexcept;

/// Whether the calling thread computes that way.
[[nodiscard]] bool fp_env_is_strict() noexcept;

}  // namespace shoal::ops
