#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm/limits.h"
#include "ops/base/bytes.h"
#include "ops/base/clock.h"

namespace shoal::comm {

/// Bulk of a rate: a chunk is kChunkTime of it, so that what goes at once stays short.
/// Units: bytes/s, 0 no bound; bytes.
[[nodiscard]] std::size_t rated_chunk_bytes(std::uint64_t rate);

/// What a frame with its chunk costs on the wire, ZeroMQ's and CURVE's framing included.
[[nodiscard]] std::uint64_t frame_cost(std::uint64_t header_bytes, std::uint64_t chunk_bytes);

/// A token bucket: in any time T at most rate x T and a burst of limits::kInFlightTime pass.
class Bucket {
 public:
  /// Units: bytes/s; 0 is no bound.
  explicit Bucket(std::uint64_t rate);

  [[nodiscard]] bool bounded() const { return rate_ > 0; }
  [[nodiscard]] std::size_t chunk_bytes() const { return chunk_bytes_; }
  /// Takes `bytes` if there is as much, or all there can be: what is larger leaves a debt.
  [[nodiscard]] bool take(TimePoint now, std::uint64_t bytes);
  /// Takes in any case: what must not wait makes the rest wait longer.
  void charge(TimePoint now, std::uint64_t bytes);
  /// When `bytes` could be taken, unless others take before.
  [[nodiscard]] TimePoint due(std::uint64_t bytes) const;

 private:
  void fill(TimePoint now);
  [[nodiscard]] double needed(std::uint64_t bytes) const;

  double rate_;
  std::size_t chunk_bytes_;
  double most_;
  double held_;
  std::optional<TimePoint> filled_;
};

/// A frame between two endpoints that no protocol sees: a sender asks whoever bounds what it
/// receives for credit before it sends bulk; nought granted means nothing.
struct Credit {
  enum class Kind : std::uint8_t { kAsk, kGrant };
  Kind kind = Kind::kGrant;
  std::uint64_t bytes = 0;

  [[nodiscard]] Bytes encode() const;
  static std::optional<Credit> decode(ByteSpan frame);
};

/// Credit of one link, both ways.
struct LinkCredit {
  std::optional<std::uint64_t> rate;  ///< that the peer receives; 0 no bound, none: not heard yet
  std::uint64_t granted = 0;          ///< by the peer, not yet used
  std::uint64_t asked = 0;            ///< of the peer, not yet granted
  std::uint64_t wanted = 0;           ///< by the peer, not yet granted

  /// Whether a frame of this cost may go.
  [[nodiscard]] bool has(std::uint64_t cost) const {
    return rate && (*rate == 0 || granted >= cost);
  }
  void use(std::uint64_t cost) { granted -= *rate == 0 ? 0 : cost; }
  /// What to ask for, when a frame has this cost and `behind` bytes wait behind it.
  [[nodiscard]] std::uint64_t lacks(std::uint64_t cost, std::uint64_t behind) const;
  void on(const Credit& credit);
};

}  // namespace shoal::comm
