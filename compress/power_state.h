#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compress/codec.h"

namespace shoal::compress {

inline constexpr std::size_t kRankMax = 32;

/// A tensor as PowerSGD sees it: a matrix [rows, cols] and an orthonormal basis on one side of it.
struct PowerTensor {
  Range granules;
  std::size_t rows = 1;
  std::size_t cols = 1;
  std::size_t rank = 0;      ///< columns of the basis; 0: it travels as fp32
  bool left = false;         ///< the basis is of the column space (rows long), not of the row space
  std::vector<float> basis;  ///< [rank, length]: each column in one piece

  [[nodiscard]] std::size_t basis_length() const { return left ? rows : cols; }
  [[nodiscard]] std::size_t factor_length() const { return left ? cols : rows; }
};

/// Columns of a matrix of so many rows and columns that PowerSGD of this rank keeps; 0 where the
/// tensor has one dimension only and travels as fp32.
std::size_t power_rank(std::size_t rank, std::size_t rows, std::size_t cols);

/// Makes the `count` columns of equal length that lie one behind the other orthonormal: modified
/// Gram-Schmidt, twice, in double precision and a fixed order, so that every machine gets the same
/// bits. A column that lies in the span of those before it (to 1e-6) is replaced by a random one.
/// Requires: finite values; no more columns than their length.
void orthonormalise(std::span<float> columns, std::size_t count, std::uint64_t seed);

/// Reads the factor of a tensor, [rank, factor_length()], that an encoder with the same state
/// wrote: u8 side (1: left), u8 rank, then f32 values below 2^120. Errors: kBadFrame.
Status read_factor(ByteReader& in, const PowerTensor& tensor, std::vector<float>& factor);
void write_factor(ByteWriter& out, const PowerTensor& tensor, std::span<const float> factor);
/// Whether all values can be sent, so that no product with a basis overflows.
bool factor_in_range(std::span<const float> factor);

/// PowerSGD's replicated state. The factor of a round, orthonormalised, is the basis of the next
/// one, on the other side.
class PowerState final : public State {
 public:
  /// Random bases from (run_seed, granule). `codec` says how the map falls into tensors.
  PowerState(const Codec& codec, std::size_t rank, const ParamMap& map, std::uint64_t run_seed);

  [[nodiscard]] std::unique_ptr<State> clone() const override;
  [[nodiscard]] Status advance(Range granules, const CodecContext& context,
                               ByteSpan answer) override;
  void save(ByteWriter& out) const override;
  [[nodiscard]] Status load(ByteReader& in) override;

  /// The tensor that begins at a granule; null when none does.
  [[nodiscard]] const PowerTensor* find(std::uint64_t granule) const;

 private:
  std::uint8_t rank_;
  std::vector<PowerTensor> tensors_;  ///< in order; granules of packed tensors too, of rank 0
};

}  // namespace shoal::compress
