#pragma once

#include <bitset>
#include <cstdint>

namespace shoal::comm {

/// Tells sequence numbers that were seen from new ones, also when they come a little out of order:
/// remembers the last kReach numbers up to the highest.
class ReplayWindow {
 public:
  static constexpr std::uint64_t kReach = 1024;

  /// True when the number is new (and is remembered); false for one seen before, one too old to
  /// tell, or 0.
  [[nodiscard]] bool accept(std::uint64_t sequence) {
    if (sequence == 0 || (highest_ >= kReach && sequence <= highest_ - kReach)) {
      return false;
    }
    if (sequence > highest_) {
      const std::uint64_t skipped = sequence - highest_;
      seen_ = skipped >= kReach ? Seen{} : seen_ << skipped;
      highest_ = sequence;
    }
    const auto age = static_cast<std::size_t>(highest_ - sequence);
    if (seen_.test(age)) {
      return false;
    }
    seen_.set(age);
    return true;
  }

 private:
  using Seen = std::bitset<kReach>;
  std::uint64_t highest_ = 0;
  Seen seen_;  ///< bit i: highest_ - i was seen
};

}  // namespace shoal::comm
