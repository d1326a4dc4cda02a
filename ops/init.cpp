#include "ops/init.h"

#include <cmath>

#include "ops/base/rng.h"

namespace shoal::ops {

Init Init::kaiming_uniform(std::uint64_t fan_in) {
  return uniform(1.0 / std::sqrt(static_cast<double>(fan_in)));
}

std::uint64_t init_stream(std::string_view name) {
  std::uint64_t hash = name.size();
  for (const char c : name) {
    hash = mix(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

void initialize(std::string_view name, const Init& init, std::uint64_t seed,
                std::span<float> values) {
  Rng rng(seed, init_stream(name));
  for (float& value : values) {
    // 2u - 1 is exact (u has 53 bits), so one product and one rounding to float are all.
    value = static_cast<float>(
        init.kind == Init::Kind::kUniform ? init.value * (2.0 * rng.uniform() - 1.0) : init.value);
  }
}

}  // namespace shoal::ops
