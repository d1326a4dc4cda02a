#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "ops/base/check.h"

namespace shoal::comm {

template <typename T>
class Task;

namespace detail {

/// Resumes whoever awaited the finished task.
struct FinalAwaiter {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <typename Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
    const auto next = h.promise().continuation;
    return next ? next : std::noop_coroutine();
  }
  void await_resume() const noexcept {}
};

struct PromiseBase {
  std::coroutine_handle<> continuation;
  std::exception_ptr exception;

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception = std::current_exception(); }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <typename U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

/// A lazy coroutine that runs on its loop's thread. `co_await` starts it and takes its value.
/// Destroying a suspended task destroys its frame, and so everything it awaits: that is how
/// cancellation works; awaitables of the loop take themselves off its lists when destroyed.
///
/// Never write a closure or an aggregate with members that are not trivial as a temporary inside a
/// co_await expression (`co_await f([p] {})`, `co_await f(Pair{p, 1})`): g++ 12 destroys it twice.
/// Give it a name first.
template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;

  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { destroy(); }

  [[nodiscard]] bool valid() const { return static_cast<bool>(handle_); }
  [[nodiscard]] bool done() const { return handle_ && handle_.done(); }
  [[nodiscard]] std::coroutine_handle<promise_type> handle() const { return handle_; }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  /// Runs the task to its first suspension. If it has none the awaiting coroutine just goes on: a
  /// loop over such tasks uses no stack, also where compilers make no tail calls (sanitizers).
  bool await_suspend(std::coroutine_handle<> awaiting) {
    handle_.resume();
    if (handle_.done()) {
      return false;
    }
    handle_.promise().continuation = awaiting;
    return true;
  }
  T await_resume() {
    if (handle_.promise().exception) {
      std::rethrow_exception(handle_.promise().exception);
    }
    return handle_.promise().take();
  }

 private:
  void destroy() {
    if (handle_) {
      std::exchange(handle_, nullptr).destroy();
    }
  }
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {
template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace shoal::comm
