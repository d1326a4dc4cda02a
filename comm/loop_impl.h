#pragma once

// The bodies of the templates in loop.h, which includes this file at its end.

#include <exception>
#include <optional>

#include "comm/loop.h"

namespace shoal::comm {

class Signal::Awaiter final : public detail::Waiter {
 public:
  Awaiter(Signal& signal, TimePoint deadline)
      : Waiter(signal.loop_), signal_(signal), deadline_(deadline) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    suspend(handle, deadline_);
    signal_.waiting_.push_back(*this);
  }
  bool await_resume() const noexcept { return !timed_out(); }

 private:
  Signal& signal_;
  TimePoint deadline_;
};

inline Signal::Awaiter Signal::wait(TimePoint deadline) { return {*this, deadline}; }

class Loop::SleepAwaiter final : public detail::Waiter {
 public:
  SleepAwaiter(Loop& loop, TimePoint when) : Waiter(loop), when_(when) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { suspend(handle, when_); }
  void await_resume() const noexcept {}

 private:
  TimePoint when_;
};

inline Loop::SleepAwaiter Loop::sleep_until(TimePoint when) { return {*this, when}; }
inline Loop::SleepAwaiter Loop::sleep_for(Duration d) { return {*this, now() + d}; }

namespace detail {

/// What an offloaded function and the task that awaits it share. Outlives either.
template <typename F, typename R>
class OffloadState {
 public:
  OffloadState(Loop& loop, F fn) : finished(loop), fn_(std::move(fn)) {}

  void run() noexcept {
    try {
      if constexpr (std::is_void_v<R>) {
        (*fn_)();
        value_.emplace();
      } else {
        value_.emplace((*fn_)());
      }
    } catch (...) {
      exception_ = std::current_exception();
    }
    fn_.reset();  // its buffers are not needed past this
  }
  R take() {
    if (exception_) {
      std::rethrow_exception(exception_);
    }
    if constexpr (!std::is_void_v<R>) {
      return std::move(*value_);
    }
  }

  Signal finished;
  bool done = false;

 private:
  struct Nothing {};
  std::optional<F> fn_;
  std::optional<std::conditional_t<std::is_void_v<R>, Nothing, R>> value_;
  std::exception_ptr exception_;
};

/// What became of one child of when_all or when_any.
template <typename T>
struct Outcome {
  std::optional<T> value;
  std::exception_ptr exception;
};
template <>
struct Outcome<void> {
  std::exception_ptr exception;
};

/// Children that have ended.
struct Children {
  explicit Children(Loop& loop) : ended(loop) {}
  Signal ended;
  std::size_t count = 0;
  std::size_t first = 0;  ///< index of the one that ended first
};

template <typename T>
Task<void> child(Children& children, std::size_t index, Task<T> task, Outcome<T>& outcome) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await task;
    } else {
      outcome.value.emplace(co_await task);
    }
  } catch (...) {
    outcome.exception = std::current_exception();
  }
  if (children.count++ == 0) {
    children.first = index;
  }
  children.ended.notify();  // wakes the parent in a turn of its own: it may destroy this frame
}

/// Starts all tasks; `outcomes` has a place for each.
template <typename T>
std::vector<Task<void>> start(Children& children, std::vector<Task<T>>& tasks,
                              std::vector<Outcome<T>>& outcomes) {
  std::vector<Task<void>> running;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    running.push_back(child(children, i, std::move(tasks[i]), outcomes[i]));
    running.back().handle().resume();
  }
  return running;
}

/// Ends when all tasks have ended; the exception of the first in order is thrown.
template <typename T>
Task<std::vector<Outcome<T>>> run_all(Loop& loop, std::vector<Task<T>> tasks) {
  Children children(loop);
  std::vector<Outcome<T>> outcomes(tasks.size());
  const std::vector<Task<void>> running = start(children, tasks, outcomes);
  while (children.count < running.size()) {
    co_await children.ended.wait();
  }
  for (const auto& outcome : outcomes) {
    if (outcome.exception) {
      std::rethrow_exception(outcome.exception);
    }
  }
  co_return outcomes;
}

}  // namespace detail

template <typename F>
auto Loop::offload(Offload kind, F&& fn, Duration cost) {
  using Function = std::remove_cvref_t<F>;
  static_assert(std::is_lvalue_reference_v<F> || std::is_trivially_copyable_v<Function>,
                "give the function a name before the co_await and pass that (it is moved from): "
                "g++ 12 destroys a temporary closure inside a co_await expression twice");
  return offloaded<Function>(kind, std::move(fn), cost);  // NOLINT: moved from, as documented
}

template <typename F>
auto Loop::offloaded(Offload kind, F fn, Duration cost) -> Task<std::invoke_result_t<F&>> {
  using State = detail::OffloadState<F, std::invoke_result_t<F&>>;
  const auto state = std::make_shared<State>(*this, std::move(fn));
  post_offload(
      kind, [state] { state->run(); }, cost,
      [state] {
        state->done = true;
        state->finished.notify();
      });
  while (!state->done) {
    co_await state->finished.wait();
  }
  co_return state->take();
}

template <typename T>
Task<std::vector<T>> when_all(Loop& loop, std::vector<Task<T>> tasks) {
  auto outcomes = co_await detail::run_all(loop, std::move(tasks));
  std::vector<T> values;
  values.reserve(outcomes.size());
  for (auto& outcome : outcomes) {
    values.push_back(std::move(*outcome.value));
  }
  co_return values;
}

}  // namespace shoal::comm
