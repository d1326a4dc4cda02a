#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/base/clock.h"
#include "ops/base/result.h"

namespace shoal::compress {

/// What one codec does on this machine, in one thread.
struct BenchRow {
  std::string codec;
  std::uint64_t elements = 0;
  double encode_gbps = 0;  ///< GB of floats in a second
  double decode_gbps = 0;  ///< decode and accumulate, GB of floats out a second
  double memcpy_gbps = 0;  ///< copying the same floats, in the same run
  double ratio = 0;        ///< encoded bytes / bytes of the floats
};

/// A row for each codec of the registry, with its default options, and each size. Figures are the
/// medians of `repeats` timings, each long enough to be read off the clock; inputs are normally
/// distributed, the same in every run.
/// Errors: kConfig when a size or `repeats` is 0.
Result<std::vector<BenchRow>> bench_codecs(const Clock& clock, std::span<const std::uint64_t> sizes,
                                           int repeats);

}  // namespace shoal::compress
