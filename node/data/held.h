#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/base/result.h"

namespace shoal::node {

/// Which samples of a split a peer holds, and where each lies among them: packed in order of their
/// indices, whatever order they were asked for in.
class Held {
 public:
  Held() = default;  ///< none
  /// Errors: kData for an index past `size`, saying that `of` (a file) has none such.
  static Result<Held> make(std::span<const std::uint32_t> indices, std::uint32_t size,
                           const std::string& of);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has(std::uint32_t index) const {
    return index < slots_.size() && slots_[index] != kNone;
  }
  /// Requires: has(index).
  [[nodiscard]] std::size_t slot(std::uint32_t index) const { return slots_[index]; }
  /// Errors: kData, naming the first that is not held.
  [[nodiscard]] Status check(std::span<const std::uint32_t> indices, const std::string& of) const;

 private:
  static constexpr std::uint32_t kNone = ~0U;

  std::vector<std::uint32_t> slots_;
  std::size_t count_ = 0;
};

}  // namespace shoal::node
