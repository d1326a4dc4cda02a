#pragma once

#include <chrono>
#include <cstddef>

namespace shoal::tests {

/// How long a test with the tag [long] may go on: a slice of fixed time by default, without end
/// under `SHOAL_LONG=1`. The work is cut in pieces, most telling first, and asked about between:
///
///   Budget budget;
///   for (const Case& c : cases) {
///     if (!budget.left()) break;
///     check(c);
///   }
///
/// The first piece always runs, so that a slow machine still asserts something.
class Budget {
 public:
  explicit Budget(std::chrono::milliseconds slice = std::chrono::seconds(5));

  /// Whether another piece may start.
  [[nodiscard]] bool left();

 private:
  std::chrono::steady_clock::time_point end_;
  bool endless_;
  bool started_ = false;
};

/// `full` under `SHOAL_LONG=1`, else `slice`: for loops that are cut by count.
[[nodiscard]] std::size_t long_count(std::size_t slice, std::size_t full);

}  // namespace shoal::tests
