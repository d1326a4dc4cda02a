#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shoal::ops {

/// How a parameter starts.
struct Init {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double value = 0;  ///< the constant, the bound b of uniform [-b, b), or the deviation

  static Init constant(double value) { return {Kind::kConstant, value}; }
  static Init uniform(double bound) { return {Kind::kUniform, bound}; }
  /// Mean 0, of this standard deviation: twelve uniforms added, less 6, so that plain integer sums
  /// are all it takes. Ends at 6 deviations.
  static Init normal(double deviation) { return {Kind::kNormal, deviation}; }
  /// Uniform in +-1/sqrt(fan_in): PyTorch's default for weights and biases of Linear and Conv
  /// (kaiming_uniform with a = sqrt(5)). Source: He et al., arXiv 1502.01852, section 2.2.
  static Init kaiming_uniform(std::uint64_t fan_in);
};

/// The stream of one tensor: from its name, so that a slice starts as the whole model would.
std::uint64_t init_stream(std::string_view name);

/// Fills one tensor from (seed, name). The same to the bit on every machine: integer randomness,
/// one product and one rounding a value, no libm but sqrt.
void initialize(std::string_view name, const Init& init, std::uint64_t seed,
                std::span<float> values);

}  // namespace shoal::ops
