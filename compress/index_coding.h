#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "ops/base/bytes.h"
#include "ops/base/check.h"
#include "ops/parameters.h"

namespace shoal::compress {

/// Writes bits, lowest first, into room that the caller has bounded.
class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> room) : room_(room) {}

  /// Requires: count <= 32, value < 2^count.
  void put(std::uint32_t value, unsigned count) {
    pending_ |= static_cast<std::uint64_t>(value) << pending_count_;
    pending_count_ += count;
    if (pending_count_ >= 32) {
      flush(4);
      pending_ >>= 32;
      pending_count_ -= 32;
    }
  }
  /// Fills the last byte with zeros; returns the bytes written.
  std::size_t finish() {
    if (pending_count_ > 0) {
      flush((pending_count_ + 7) / 8);
    }
    pending_ = 0;
    pending_count_ = 0;
    return size_;
  }

 private:
  void flush(std::size_t bytes) {
    SHOAL_CHECK(room_.size() - size_ >= bytes, "the bound on encoded bytes holds");
    std::memcpy(room_.data() + size_, &pending_, bytes);
    size_ += bytes;
  }

  std::span<std::byte> room_;
  std::size_t size_ = 0;
  std::uint64_t pending_ = 0;
  unsigned pending_count_ = 0;
};

/// Reads what BitWriter wrote. Safe on hostile input: past the end every read says no.
class BitReader {
 public:
  explicit BitReader(ByteSpan data) : data_(data) {}

  /// Requires: count <= 32.
  [[nodiscard]] bool get(unsigned count, std::uint32_t& value) {
    refill();
    if (ready_count_ < count) {
      return false;
    }
    value = static_cast<std::uint32_t>(ready_ & ((std::uint64_t{1} << count) - 1));
    drop(count);
    return true;
  }
  /// Counts ones up to the next zero, which is read too, or up to `limit` ones.
  [[nodiscard]] bool get_unary(unsigned limit, unsigned& ones) {
    refill();
    ones = static_cast<unsigned>(std::countr_one(ready_));
    if (ones >= limit) {
      ones = limit;
      drop(limit);
      return true;
    }
    if (ones >= ready_count_) {
      return false;
    }
    drop(ones + 1);
    return true;
  }
  /// Bytes read so far, the last one included whole; false when bits left in it are not zero.
  [[nodiscard]] bool finish(std::size_t& bytes) {
    const unsigned padding = ready_count_ % 8;
    bytes = next_ - ready_count_ / 8;
    return (ready_ & ((std::uint64_t{1} << padding) - 1)) == 0;
  }

 private:
  // Bits above ready_count_ are zero, so a run of ones never reads past the data.
  void refill() {
    while (ready_count_ <= 56 && next_ < data_.size()) {
      ready_ |= static_cast<std::uint64_t>(data_[next_++]) << ready_count_;
      ready_count_ += 8;
    }
  }
  void drop(unsigned count) {
    ready_ >>= count;
    ready_count_ -= count;
  }

  ByteSpan data_;
  std::size_t next_ = 0;
  std::uint64_t ready_ = 0;
  unsigned ready_count_ = 0;
};

/// Rice codes of the gaps between kept indices of one granule: gap >> k in unary (ones, then a
/// zero), then its k low bits. From kRiceEscape ones on, those and the whole gap instead, so that
/// no gap costs more than kRiceEscape + kGapBits bits.
/// Source: Rice, "Some practical universal noiseless coding techniques", JPL 79-22; the escape is
/// ours.
inline constexpr unsigned kGapBits = 12;
inline constexpr unsigned kRiceEscape = 20;
inline constexpr unsigned kRiceParameterMax = kGapBits - 1;
static_assert(kGranule == std::uint64_t{1} << kGapBits);

/// The k that makes these gaps shortest; the smaller one of equals.
unsigned rice_parameter(std::span<const std::uint16_t> gaps);

/// Largest number of bits that `count` gaps or fewer within `elements` elements take with the k
/// that rice_parameter gives.
std::size_t rice_bits_max(std::size_t count, std::size_t elements);

/// Requires: gap < kGranule, k <= kRiceParameterMax.
inline void rice_put(BitWriter& out, std::uint32_t gap, unsigned k) {
  const std::uint32_t quotient = gap >> k;
  if (quotient >= kRiceEscape) {
    out.put((std::uint32_t{1} << kRiceEscape) - 1, kRiceEscape);
    out.put(gap, kGapBits);
    return;
  }
  const std::uint32_t ones = (std::uint32_t{1} << quotient) - 1;
  const std::uint32_t rest = gap & ((std::uint32_t{1} << k) - 1);
  out.put(ones | rest << (quotient + 1), quotient + 1 + k);
}

/// False when the bits end or an escape was not called for.
[[nodiscard]] inline bool rice_get(BitReader& in, unsigned k, std::uint32_t& gap) {
  unsigned quotient = 0;
  if (!in.get_unary(kRiceEscape, quotient)) {
    return false;
  }
  if (quotient == kRiceEscape) {
    return in.get(kGapBits, gap) && gap >> k >= kRiceEscape;
  }
  std::uint32_t rest = 0;
  if (!in.get(k, rest)) {
    return false;
  }
  gap = quotient << k | rest;
  return true;
}

/// How a set of indices is written, in kIndexCodeBits bits: the Rice parameter of its gaps, or that
/// they are plain unary numbers, which makes the code a bitmap that ends with its last one.
inline constexpr unsigned kIndexCodeBits = 4;
inline constexpr unsigned kIndexBitmap = kRiceParameterMax + 1;

/// The gaps of a set of ascending indices and the shortest code of them.
class IndexCode {
 public:
  /// Requires: ascending indices, 1..kGranule of them, the last below kGranule.
  explicit IndexCode(std::span<const std::uint16_t> indices);
  [[nodiscard]] unsigned code() const { return code_; }
  void put(BitWriter& out) const;

 private:
  std::array<std::uint16_t, kGranule> gaps_;
  std::size_t count_;
  unsigned code_;
};

/// Reads as many indices as `indices` holds. False for bits that no IndexCode of as many indices
/// below `elements` writes.
[[nodiscard]] bool get_indices(BitReader& in, unsigned code, std::size_t elements,
                               std::span<std::uint16_t> indices);

/// Largest number of bits of `count` indices or fewer below `elements`.
std::size_t index_bits_max(std::size_t count, std::size_t elements);

}  // namespace shoal::compress
