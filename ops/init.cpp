#include "ops/init.h"

#include <cmath>

#include "ops/base/rng.h"

namespace shoal::ops {
namespace {

double draw(const Init& init, Rng& rng) {
  switch (init.kind) {
    case Init::Kind::kUniform:
      // 2u - 1 is exact (u has 53 bits), so one product and one rounding to float are all.
      return init.value * (2.0 * rng.uniform() - 1.0);
    case Init::Kind::kNormal: {
      // Twelve words on [0, 1] have variance 1 in sum and mean 6; sums of integers are exact.
      std::int64_t sum = 6;  // half a step for each word's cut end
      for (int i = 0; i < 12; ++i) {
        sum += rng.next_u32();
      }
      return init.value * (static_cast<double>(sum) * 0x1.0p-32 - 6.0);
    }
    default:
      return init.value;
  }
}

}  // namespace

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
    value = static_cast<float>(draw(init, rng));
  }
}

}  // namespace shoal::ops
