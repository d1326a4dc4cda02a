#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/select.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include <array>
#include <bit>

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

std::uint32_t select_abs_max(const float* x, std::size_t count) { return lanes_abs_max(x, count); }

/// maxima[j] = largest |x[i]| with i % groups == j. Requires: groups a multiple of 64.
void select_group_maxima(const float* x, std::size_t count, std::uint32_t* maxima,
                         std::size_t groups) {
  // Four vectors of 16 lanes or fewer: 64 groups are read row by row, which memory does fastest.
  const hn::CappedTag<float, 16> floats;
  const hn::Repartition<std::uint32_t, decltype(floats)> words;
  const auto mask = hn::Set(words, kAbsMask);
  const std::size_t step = hn::Lanes(floats);
  const std::size_t rows = count / groups;
  for (std::size_t j = 0; j < groups; j += 4 * step) {
    auto max0 = hn::Zero(words);
    auto max1 = max0;
    auto max2 = max0;
    auto max3 = max0;
    for (std::size_t row = 0; row < rows; ++row) {
      const float* const at = x + row * groups + j;
      const auto bits = [&](std::size_t i) HWY_ATTR {
        return hn::And(hn::BitCast(words, hn::LoadU(floats, at + i * step)), mask);
      };
      max0 = hn::Max(max0, bits(0));
      max1 = hn::Max(max1, bits(1));
      max2 = hn::Max(max2, bits(2));
      max3 = hn::Max(max3, bits(3));
    }
    hn::StoreU(max0, words, maxima + j);
    hn::StoreU(max1, words, maxima + j + step);
    hn::StoreU(max2, words, maxima + j + 2 * step);
    hn::StoreU(max3, words, maxima + j + 3 * step);
  }
  for (std::size_t i = rows * groups; i < count; ++i) {
    auto& max = maxima[i - rows * groups];
    max = std::max(max, abs_bits(x[i]));
  }
}

/// Number of |x| whose bits are at least `threshold`.
std::size_t select_count(const float* x, std::size_t count, std::uint32_t threshold) {
  const Floats floats;
  const Words words;
  const std::size_t step = hn::Lanes(floats);
  // As a lane of the comparison is all ones, subtracting it counts one.
  const auto below = hn::Set(words, threshold - 1);
  auto counts = hn::Zero(words);
  std::size_t i = 0;
  const auto next = reinterpret_cast<std::uintptr_t>(x + count);
  for (; i + step <= count; i += step) {
    __builtin_prefetch(reinterpret_cast<const void*>(next + i * sizeof(float) / 2), 0, 2);
    const auto above = hn::Gt(lanes_abs_bits(hn::LoadU(floats, x + i)), below);
    counts = hn::Sub(counts, hn::VecFromMask(words, above));
  }
  std::size_t total = hn::GetLane(hn::SumOfLanes(words, counts));
  for (; i < count; ++i) {
    total += abs_bits(x[i]) >= threshold ? 1 : 0;
  }
  return total;
}

/// Writes the indices of |x| whose bits are at least `threshold`; returns how many there are.
/// Meanwhile it calls for what lies behind x: granules follow one another.
std::size_t select_collect(const float* x, std::size_t count, std::uint32_t threshold,
                           std::uint16_t* indices) {
  const Floats floats;
  const Words words;
  const std::size_t step = hn::Lanes(floats);
  const auto below = hn::Set(words, threshold - 1);
  std::size_t kept = 0;
  std::size_t i = 0;
  const auto next = reinterpret_cast<std::uintptr_t>(x + count);
  for (; i + step <= count; i += step) {
    __builtin_prefetch(reinterpret_cast<const void*>(next + i * sizeof(float)));
    const auto above = hn::Gt(lanes_abs_bits(hn::LoadU(floats, x + i)), below);
    if (hn::AllFalse(words, above)) {  // the rule, at the densities this is for
      continue;
    }
    std::array<std::uint8_t, 8> mask{};  // HWY_MAX_BYTES / sizeof(float) bits
    hn::StoreMaskBits(words, above, mask.data());
    for (std::uint64_t left = std::bit_cast<std::uint64_t>(mask); left != 0; left &= left - 1) {
      indices[kept++] =
          static_cast<std::uint16_t>(i + static_cast<unsigned>(std::countr_zero(left)));
    }
  }
  for (; i < count; ++i) {
    indices[kept] = static_cast<std::uint16_t>(i);
    kept += abs_bits(x[i]) >= threshold ? 1 : 0;
  }
  return kept;
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <functional>

#include "compress/select.h"
#include "ops/base/check.h"
#include "ops/parameters.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(select_abs_max);
HWY_EXPORT(select_group_maxima);
HWY_EXPORT(select_count);
HWY_EXPORT(select_collect);

constexpr std::size_t kGroupsMin = 64;
constexpr std::size_t kGroupsMax = 1024;
constexpr std::size_t kFewest = 4 * kGroupsMin;  // below it selection is exact at once
constexpr int kCorrections = 8;

/// Largest magnitudes of strided groups.
struct Maxima {
  explicit Maxima(std::span<const float> x, std::size_t aim)
      : groups(std::clamp(std::bit_ceil(aim), kGroupsMin, kGroupsMax)) {
    HWY_DYNAMIC_DISPATCH(select_group_maxima)(x.data(), x.size(), values.data(), groups);
  }
  std::size_t groups;
  std::array<std::uint32_t, kGroupsMax> values;
};

/// With a share p of all values above a threshold, a group of h has its maximum above it with
/// probability 1 - (1-p)^h, so the threshold is near the maximum of that rank.
std::uint32_t estimate_threshold(Maxima& maxima, std::size_t elements, std::size_t aim) {
  const double below = 1 - static_cast<double>(aim) / static_cast<double>(elements);
  double group_below = 1;
  for (std::size_t h = 0; h < elements / maxima.groups; ++h) {
    group_below *= below;
  }
  const double rank = static_cast<double>(maxima.groups) * (1 - group_below);
  const auto begin = maxima.values.begin();
  const auto at = begin + static_cast<std::ptrdiff_t>(
                              std::min(static_cast<std::size_t>(rank), maxima.groups - 1));
  std::nth_element(begin, at, begin + static_cast<std::ptrdiff_t>(maxima.groups), std::greater<>());
  return std::max<std::uint32_t>(*at, 1);
}

/// A threshold that keeps as many as wished, or 0 when counting did not find one.
std::uint32_t find_threshold(std::span<const float> x, const KeepCount& keep,
                             std::uint32_t first_guess) {
  // Bits of a float grow like the logarithm of its magnitude, and so, roughly, does the logarithm
  // of the count fall: a straight line between two counts is a good next guess.
  constexpr std::int64_t kStride = 1 << 21;  // a factor of about 1.2
  std::int64_t low = 1;                      // keeps too many, or everything that is not zero
  std::int64_t high = kInfBits;              // keeps too few
  std::size_t count_low = 0;                 // 0: not counted yet
  std::size_t count_high = 0;
  std::int64_t threshold = first_guess;
  for (int i = 0; i < kCorrections; ++i) {
    const auto bits = static_cast<std::uint32_t>(threshold);
    const std::size_t count = HWY_DYNAMIC_DISPATCH(select_count)(x.data(), x.size(), bits);
    if ((count >= keep.low && count <= keep.high) || (count < keep.low && bits == 1)) {
      return bits;
    }
    if (count > keep.high) {
      low = threshold;
      count_low = count;
    } else {
      high = threshold;
      count_high = count;
    }
    if (high - low <= 1 && count_low > 0) {
      return 0;  // equal values on the border
    }
    if (count_low == 0) {
      threshold = std::max<std::int64_t>(high - kStride * (std::int64_t{1} << i), 1);
    } else if (count_high == 0) {
      threshold = std::min(low + kStride * (std::int64_t{1} << i), high - 1);
    } else {
      const auto span = static_cast<std::int64_t>(count_low - count_high);
      const auto above = static_cast<std::int64_t>(count_low - keep.aim);
      threshold = std::clamp(low + (high - low) * above / span, low + 1, high - 1);
    }
  }
  return 0;
}

/// Orders values by magnitude, equal ones from the first to the last, no two alike.
std::uint64_t rank(std::span<const float> x, std::uint16_t i) {
  return std::uint64_t{abs_bits(x[i])} << 16 | (0xffffU - i);
}

/// Leaves the `count` largest of the candidates, the first of equals. Returns how many are left.
std::size_t trim(std::span<const float> x, std::size_t count, std::span<std::uint16_t> candidates) {
  if (candidates.size() <= count) {
    return candidates.size();
  }
  std::array<std::uint64_t, kGranule> ranks;
  auto end = ranks.begin();
  for (const std::uint16_t i : candidates) {
    *end++ = rank(x, i);
  }
  const auto nth = ranks.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(ranks.begin(), nth, end, std::greater<>());
  const std::uint64_t least = *nth;
  const auto last = std::remove_if(candidates.begin(), candidates.end(),
                                   [&](std::uint16_t i) { return rank(x, i) < least; });
  return static_cast<std::size_t>(last - candidates.begin());
}

/// The largest, as many as `window` allows; exactly `aim` where no threshold gives that.
Selection select_within(std::span<const float> x, const KeepCount& window, std::size_t aim,
                        std::span<std::uint16_t> indices) {
  SHOAL_CHECK(indices.size() >= x.size(), "there is room for every index");
  Selection found;
  std::uint32_t threshold = 0;
  if (x.size() < kFewest || aim == x.size()) {
    found.max = abs_max(x);
  } else {
    Maxima maxima(x, window.aim);
    const auto end = maxima.values.begin() + static_cast<std::ptrdiff_t>(maxima.groups);
    found.max = *std::max_element(maxima.values.begin(), end);
    if (found.max < kInfBits) {
      const auto guess = estimate_threshold(maxima, x.size(), window.aim);
      threshold = find_threshold(x, window, guess);
    }
  }
  if (found.max >= kInfBits) {
    return found;
  }
  found.count = HWY_DYNAMIC_DISPATCH(select_collect)(x.data(), x.size(), std::max(threshold, 1U),
                                                     indices.data());
  found.count = threshold == 0 ? trim(x, aim, indices.first(found.count)) : found.count;
  return found;
}

}  // namespace

KeepCount::KeepCount(double density, std::size_t elements) {
  const double exact = density * static_cast<double>(elements);
  aim = static_cast<std::size_t>(exact);
  aim += static_cast<double>(aim) < exact - 1e-9 ? 1 : 0;  // 0.07 * 100 is 7, not 8
  aim = std::clamp<std::size_t>(aim, 1, elements);
  low = aim - aim / 8;
  high = std::min(aim + aim / 4, elements);
}

std::uint32_t abs_max(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(select_abs_max)(x.data(), x.size());
}

Selection select_largest(std::span<const float> x, const KeepCount& keep,
                         std::span<std::uint16_t> indices) {
  return select_within(x, keep, keep.aim, indices);
}

Selection select_exactly(std::span<const float> x, const KeepCount& keep,
                         std::span<std::uint16_t> indices) {
  KeepCount window = keep;  // a few too many are soon cut down
  window.low = keep.aim;
  window.high = std::min(2 * keep.aim + kGroupsMin, x.size());
  window.aim = (window.low + window.high) / 2;
  Selection found = select_within(x, window, keep.aim, indices);
  found.count = trim(x, keep.aim, indices.first(found.count));
  return found;
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
