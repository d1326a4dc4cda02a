#pragma once

#include <cstdint>
#include <vector>

#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::node {

/// A peer's own samples in its own order, epoch after epoch (private data mode). Never leased,
/// never leaves the peer.
class PrivateOrder {
 public:
  /// `own` are the sample indices of the part. Requires: not empty (checked).
  PrivateOrder(std::uint64_t seed, std::vector<std::uint32_t> own);

  /// The next `count` samples; goes on into the next epoch, each epoch in another order.
  std::vector<std::uint32_t> next(std::uint64_t count);
  /// What `next` would give.
  [[nodiscard]] std::vector<std::uint32_t> peek(std::uint64_t count) const;
  /// Samples given out since the start, over all epochs.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  [[nodiscard]] std::uint64_t size() const { return own_.size(); }

  void save(ByteWriter& out) const;
  /// Errors: kData when it is another part's.
  [[nodiscard]] Status load(ByteReader& in);

 private:
  std::uint64_t seed_;
  std::vector<std::uint32_t> own_;
  std::uint64_t fingerprint_ = 0;  ///< of own_
  std::uint64_t given_ = 0;
};

}  // namespace shoal::node
