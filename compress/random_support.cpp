#include "compress/random_support.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "ops/base/check.h"
#include "ops/base/rng.h"

namespace shoal::compress {
namespace {

constexpr unsigned kCountBits = 12;
static_assert(kGranule == std::uint64_t{1} << kCountBits);

/// 32-bit words that follow from a seed, two from each mix of it with a counter.
class Words {
 public:
  explicit Words(std::uint64_t seed) : seed_(seed) {}
  /// Uniform below `bound` <= kGranule, but for a 2^-20th of each probability.
  std::size_t below(std::size_t bound) {
    words_ = drawn_ % 2 == 0 ? mix(seed_, drawn_ / 2) : words_ >> 32;
    ++drawn_;
    return static_cast<std::size_t>((words_ & 0xffffffff) * bound >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::uint64_t words_ = 0;
};

}  // namespace

std::uint32_t support_seed(const CodecContext& context) {
  const std::uint64_t mixed = mix(mix(context.run_seed, context.round), context.granule);
  return static_cast<std::uint32_t>(mixed >> (64 - kSupportSeedBits));
}

void draw_support(std::uint32_t seed, std::size_t elements, std::span<std::uint16_t> indices) {
  const std::size_t count = indices.size();
  SHOAL_CHECK(count > 0 && count <= elements && elements <= kGranule, "a subset of a granule");
  std::array<std::uint64_t, kGranule / 64> drawn{};
  // Of more than half, those left out are drawn.
  const std::size_t draws = std::min(count, elements - count);
  Words words(mix(seed, elements));
  for (std::size_t last = elements - draws; last < elements; ++last) {
    const std::size_t t = words.below(last + 1);
    const bool taken = (drawn[t / 64] >> (t % 64) & 1) != 0;
    const std::size_t next = taken ? last : t;
    drawn[next / 64] |= std::uint64_t{1} << (next % 64);
  }
  const std::uint64_t flip = draws < count ? ~std::uint64_t{0} : 0;
  std::size_t kept = 0;
  for (std::size_t word = 0; word * 64 < elements; ++word) {
    const std::size_t bits = std::min<std::size_t>(elements - word * 64, 64);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
    for (std::uint64_t left = (drawn[word] ^ flip) & all; left != 0; left &= left - 1) {
      indices[kept++] =
          static_cast<std::uint16_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

void put_support(std::uint32_t seed, std::size_t count, ByteWriter& out) {
  out.put(static_cast<std::uint32_t>(count - 1) | seed << kCountBits);
}

std::size_t get_support(ByteReader& in, std::size_t elements, std::span<std::uint16_t> room) {
  std::uint32_t header = 0;
  if (!in.get(header) || header >> (kCountBits + kSupportSeedBits) != 0) {
    return 0;
  }
  const std::size_t count = (header & (kGranule - 1)) + 1;
  if (count > elements) {
    return 0;
  }
  draw_support(header >> kCountBits, elements, room.first(count));
  return count;
}

}  // namespace shoal::compress
