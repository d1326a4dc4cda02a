#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "ops/base/check.h"

namespace shoal {

/// What kind of thing went wrong; `exit_code()` maps it onto the documented exit codes.
enum class Code {
  kInternal,  ///< a bug of ours, or the system refused something ordinary; exit 1
  kConfig,    ///< usage or configuration; exit 2
  kData,      ///< a data, model or checkpoint file; exit 3
  kNetwork,   ///< peers, ports, keys, the run's agreement; exit 4
  kDevice,    ///< device or memory; exit 5
  kBadFrame,  ///< bytes of a peer that `decode()` or a codec refused; exit 4
  kCancelled  ///< the caller asked to stop; exit 0
};

/// The process exit code of an error of this kind (0 done, 2, 3, 4, 5, 1 anything else).
int exit_code(Code code) noexcept;

/// The word for a code in logs and metrics ("config", "bad-frame", ...).
const char* code_name(Code code) noexcept;

/// One failure: its kind, a sentence that names the thing and the remedy, and the peer if one is
/// to blame (its short id; empty otherwise).
struct Error {
  Code code = Code::kInternal;
  std::string message;
  std::string peer;
};

/// A value or an `Error`. g++ 12 has no `std::expected`; this is the part of it we need.
/// Requires: `value()` is called only when `ok()`, `error()` only when not (checked).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & {
    SHOAL_CHECK(ok(), "value() of a failed Result");
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    SHOAL_CHECK(ok(), "value() of a failed Result");
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    SHOAL_CHECK(ok(), "value() of a failed Result");
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    SHOAL_CHECK(!ok(), "error() of a good Result");
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success or an `Error`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  void value() const { SHOAL_CHECK(ok(), "value() of a failed Result"); }
  const Error& error() const {
    SHOAL_CHECK(!ok(), "error() of a good Result");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Error config_error(std::string message) { return {Code::kConfig, std::move(message), {}}; }
inline Error data_error(std::string message) { return {Code::kData, std::move(message), {}}; }
inline Error network_error(std::string message, std::string peer = {}) {
  return {Code::kNetwork, std::move(message), std::move(peer)};
}
inline Error device_error(std::string message) { return {Code::kDevice, std::move(message), {}}; }
inline Error bad_frame(std::string message) { return {Code::kBadFrame, std::move(message), {}}; }
inline Error internal_error(std::string message) {
  return {Code::kInternal, std::move(message), {}};
}

}  // namespace shoal

/// Returns the error of `expr` (a Result of any type) from the enclosing function, if it failed.
#define SHOAL_TRY(expr)                               \
  do {                                                \
    if (auto shoal_try_ = (expr); !shoal_try_.ok()) { \
      return shoal_try_.error();                      \
    }                                                 \
  } while (false)

#define SHOAL_CONCAT_INNER(a, b) a##b
#define SHOAL_CONCAT(a, b) SHOAL_CONCAT_INNER(a, b)

/// `SHOAL_ASSIGN(auto x, f());` binds the value of `f()` or returns its error.
#define SHOAL_ASSIGN(declaration, expr)                   \
  auto SHOAL_CONCAT(shoal_result_, __LINE__) = (expr);    \
  if (!SHOAL_CONCAT(shoal_result_, __LINE__).ok()) {      \
    return SHOAL_CONCAT(shoal_result_, __LINE__).error(); \
  }                                                       \
  declaration = std::move(SHOAL_CONCAT(shoal_result_, __LINE__)).value()
