#pragma once

namespace shoal {

/// Ends the process after saying which invariant of ours broke. For our own bugs only: no value
/// that came from a peer, a file or the user may reach it unjudged.
[[noreturn]] void check_failed(const char* condition, const char* message, const char* file,
                               int line) noexcept;

}  // namespace shoal

/// Checks an invariant in every build. `message` is a string literal that says what was expected.
#define SHOAL_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::shoal::check_failed(#condition, message, __FILE__, __LINE__))
