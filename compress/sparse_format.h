#pragma once

#include <cstdint>
#include <span>

#include "compress/codec.h"
#include "compress/select.h"

namespace shoal::compress {

// What codecs write that keep the largest of some values: Rice-coded gaps between their indices,
// and the values as int8, bfloat16 or float32.
//
// A granule, in bits, lowest first: kind 2 (int8, bf16, fp32, empty); unless empty: index code 4,
// count - 1 12 and, for int8, scale 12; the indices; zeros up to a whole byte; then the values. The
// header has at most 30 bits. A scale is a ShortScale rounded up from max / 127.

enum class SparseValues : std::uint8_t { kInt8, kBf16, kFp32, kEmpty };

/// A float of 9 exponent and 3 fraction bits in units of 2^-149, so that no fp32 value is out of
/// its reach.
inline constexpr unsigned kShortScaleBits = 12;
/// The value of a code; +Inf past the largest float.
float short_scale(std::uint32_t code);
/// The code of the smallest step of which `levels` reach a magnitude with these bits; near the
/// largest float of one that `levels` fit in.
std::uint32_t short_scale_code(std::uint32_t max_bits, float levels);

struct SparseOptions {
  double density = 0;
  SparseValues values = SparseValues::kInt8;
  bool exact = false;  ///< exactly ceil(density n), not 7/8 to 5/4 of it
};

/// The share of |x|^2 that is kept for certain, as a multiple of the density.
double sparse_contraction(bool exact);

std::size_t sparse_bytes_max(const SparseOptions& options, std::size_t elements);

/// Errors: kData when `x` holds NaN or Inf.
Status sparse_encode(std::span<const float> x, const SparseOptions& options, ByteWriter& out);

/// acc[i] += scale * x[i] of the values that were kept. Errors: kBadFrame, naming `codec`.
Status sparse_decode_add(const char* codec, ByteReader& in, float scale, std::span<float> acc);

/// The options `density` and `values` of a codec, and what a table of them means.
std::vector<OptionSpec> sparse_option_specs(double density);
SparseOptions sparse_options(const Options& options);

}  // namespace shoal::compress
