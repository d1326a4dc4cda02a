#include "tests/support/budget.h"

#include <cstdlib>
#include <string_view>

namespace shoal::tests {
namespace {

bool run_in_full() {
  const char* text = std::getenv("SHOAL_LONG");
  return text != nullptr && std::string_view(text) != "0";
}

}  // namespace

Budget::Budget(std::chrono::milliseconds slice)
    : end_(std::chrono::steady_clock::now() + slice), endless_(run_in_full()) {}

bool Budget::left() {
  if (!started_) {
    started_ = true;
    return true;
  }
  return endless_ || std::chrono::steady_clock::now() < end_;
}

std::size_t long_count(std::size_t slice, std::size_t full) { return run_in_full() ? full : slice; }

}  // namespace shoal::tests
