#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/select.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

std::uint32_t select_abs_max(const float* x, std::size_t count) { return lanes_abs_max(x, count); }

/// maxima[j] = largest |x[i]| with i % groups == j. Requires: groups a multiple of 64.
void select_group_maxima(const float* x, std::size_t count, std::uint32_t* maxima,
                         std::size_t groups) {
  const Floats floats;
  const Words words;
  const std::size_t step = hn::Lanes(floats);
  const std::size_t rows = count / groups;
  for (std::size_t j = 0; j < groups; j += step) {
    auto max = hn::Zero(words);
    for (std::size_t row = 0; row < rows; ++row) {
      max = hn::Max(max, lanes_abs_bits(hn::LoadU(floats, x + row * groups + j)));
    }
    hn::StoreU(max, words, maxima + j);
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
  for (; i + step <= count; i += step) {
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
std::size_t select_collect(const float* x, std::size_t count, std::uint32_t threshold,
                           std::uint16_t* indices) {
  const Floats floats;
  const Words words;
  const std::size_t step = hn::Lanes(floats);
  const auto below = hn::Set(words, threshold - 1);
  std::size_t kept = 0;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto above = hn::Gt(lanes_abs_bits(hn::LoadU(floats, x + i)), below);
    if (hn::AllFalse(words, above)) {  // the rule, at the densities this is for
      continue;
    }
    for (std::size_t j = i; j < i + step; ++j) {
      indices[kept] = static_cast<std::uint16_t>(j);
      kept += abs_bits(x[j]) >= threshold ? 1 : 0;
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
#include <array>
#include <bit>
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

/// With a share p of all values above a threshold, a group of h has its maximum above it with
/// probability 1 - (1-p)^h, so the threshold is near the maximum of that rank.
std::uint32_t estimate_threshold(std::span<const float> x, std::size_t aim) {
  std::array<std::uint32_t, kGroupsMax> maxima{};
  const std::size_t groups = std::clamp(std::bit_ceil(aim), kGroupsMin, kGroupsMax);
  HWY_DYNAMIC_DISPATCH(select_group_maxima)(x.data(), x.size(), maxima.data(), groups);
  const double below = 1 - static_cast<double>(aim) / static_cast<double>(x.size());
  double group_below = 1;
  for (std::size_t h = 0; h < x.size() / groups; ++h) {
    group_below *= below;
  }
  const double rank = static_cast<double>(groups) * (1 - group_below);
  const auto at = maxima.begin() +
                  static_cast<std::ptrdiff_t>(std::min(static_cast<std::size_t>(rank), groups - 1));
  std::nth_element(maxima.begin(), at, maxima.begin() + static_cast<std::ptrdiff_t>(groups),
                   std::greater<>());
  return std::max<std::uint32_t>(*at, 1);
}

/// A threshold that keeps as many as wished, or 0 when counting did not find one.
std::uint32_t find_threshold(std::span<const float> x, const KeepCount& keep) {
  // Bits of a float grow like the logarithm of its magnitude, and so, roughly, does the logarithm
  // of the count fall: a straight line between two counts is a good next guess.
  constexpr std::int64_t kStride = 1 << 21;  // a factor of about 1.2
  std::int64_t low = 1;                      // keeps too many, or everything that is not zero
  std::int64_t high = kInfBits;              // keeps too few
  std::size_t count_low = 0;                 // 0: not counted yet
  std::size_t count_high = 0;
  std::int64_t threshold = estimate_threshold(x, keep.aim);
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

std::size_t select_exactly(std::span<const float> x, std::size_t aim,
                           std::span<std::uint16_t> indices) {
  std::array<std::uint32_t, kGranule> magnitudes;
  const auto end = std::transform(x.begin(), x.end(), magnitudes.begin(), abs_bits);
  const auto nth = magnitudes.begin() + static_cast<std::ptrdiff_t>(aim - 1);
  std::nth_element(magnitudes.begin(), nth, end, std::greater<>());
  const std::uint32_t threshold = std::max<std::uint32_t>(*nth, 1);
  const auto above = std::count_if(magnitudes.begin(), nth,
                                   [&](std::uint32_t magnitude) { return magnitude > threshold; });
  std::size_t equals = aim - static_cast<std::size_t>(above);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t magnitude = abs_bits(x[i]);
    if (magnitude > threshold || (magnitude == threshold && equals > 0)) {
      equals -= magnitude == threshold ? 1 : 0;
      indices[kept++] = static_cast<std::uint16_t>(i);
    }
  }
  return kept;
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

std::size_t select_largest(std::span<const float> x, const KeepCount& keep,
                           std::span<std::uint16_t> indices) {
  SHOAL_CHECK(indices.size() >= x.size(), "there is room for every index");
  const std::uint32_t threshold = x.size() < kFewest ? 0 : find_threshold(x, keep);
  if (threshold == 0) {
    return select_exactly(x, keep.aim, indices);
  }
  return HWY_DYNAMIC_DISPATCH(select_collect)(x.data(), x.size(), threshold, indices.data());
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
