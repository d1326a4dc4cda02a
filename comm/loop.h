#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/endpoint.h"
#include "comm/task.h"
#include "comm/timers.h"
#include "ops/base/clock.h"

namespace shoal::comm {

/// The thread an offloaded computation belongs to: compute is the only one that calls BLAS or the
/// GPU, codec encodes, decodes and reduces, io reads and writes files.
enum class Offload : std::uint8_t { kCompute, kCodec, kIo };
inline constexpr std::size_t kOffloadKinds = 3;

class Loop;

/// Runs offloaded functions. The real one has a thread a kind (workers.h); with virtual time the
/// loop runs them inline.
class Workers {
 public:
  virtual ~Workers() = default;
  /// Runs `fn` on the thread of its kind, in order; `done` is called there when it has run.
  virtual void post(Offload kind, std::function<void()> fn, std::function<void()> done) = 0;
};

namespace detail {

using WaiterHook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// A suspended coroutine, on the list of what it waits for or on the loop's ready list, with an
/// optional deadline. Lives in the coroutine's frame, so destroying that takes it off all lists.
class Waiter : public WaiterHook, public Timer {
 public:
  explicit Waiter(Loop& loop) : loop_(loop) {}
  /// The deadline passed: ready, with `timed_out()`.
  void fire() override;
  [[nodiscard]] bool timed_out() const { return timed_out_; }

  void leave_list() { WaiterHook::unlink(); }

 protected:
  void suspend(std::coroutine_handle<> handle, TimePoint deadline);

 private:
  friend class shoal::comm::Loop;
  Loop& loop_;
  std::coroutine_handle<> handle_;
  bool timed_out_ = false;
};

/// First in, first out; owns nothing and allocates nothing.
using Waiters = boost::intrusive::list<Waiter, boost::intrusive::base_hook<WaiterHook>,
                                       boost::intrusive::constant_time_size<false>>;

}  // namespace detail

/// A condition that tasks wait for, pulsed by `notify`. Not thread-safe; lives on the loop. Tasks
/// that still wait when it is destroyed wait for their deadlines.
class Signal {
 public:
  explicit Signal(Loop& loop) : loop_(loop) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// Wakes every task that waits now, in the order in which they came; they run in the loop's next
  /// turn, never inside this call.
  void notify();

  class Awaiter;
  /// Waits for the next notify; false when the deadline passed first.
  Awaiter wait(TimePoint deadline = kNever);

 private:
  Loop& loop_;
  detail::Waiters waiting_;
};

/// Owns the endpoint's events, timers and tasks of one peer: all protocol state lives here, on one
/// thread, and nothing in it blocks.
class Loop {
 public:
  /// `workers` may be null when the endpoint's time is virtual.
  Loop(Endpoint& endpoint, Workers* workers);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] TimePoint now() const { return endpoint_.now(); }
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }

  /// Who gets the endpoint's events; one consumer (the session layer).
  void set_event_handler(std::function<void(Event&)> handler) { handler_ = std::move(handler); }

  using TaskId = std::uint64_t;
  /// Starts a task at the next turn; the loop owns it. An exception that escapes it is our bug.
  TaskId spawn(Task<void> task);
  /// Destroys a spawned task where it stands; unknown or finished ids are ignored. Not from within
  /// the task itself.
  void cancel(TaskId id);
  [[nodiscard]] bool running(TaskId id) const { return tasks_.contains(id); }

  class SleepAwaiter;
  /// Suspends until the time has come; for at least a turn when it has come already.
  SleepAwaiter sleep_until(TimePoint when);
  SleepAwaiter sleep_for(Duration d);

  /// Runs `fn` on the thread of its kind and gives its result back on the loop; what it throws is
  /// thrown here. Starts when awaited, as every task. `cost` is what it takes in virtual time
  /// (from a table, never measured); offloads of one kind queue behind each other. `fn` owns its
  /// buffers: if the awaiting task is destroyed, it still runs to its end. A function with captures
  /// that are not trivial is named first, and moved from: see task.h.
  template <typename F>
  auto offload(Offload kind, F&& fn, Duration cost = Duration{0});

  /// Calls `fn` once at `when` on the loop; returns an id (never 0) for `cancel_timer`.
  std::uint64_t add_timer(TimePoint when, std::function<void()> fn);
  /// Unknown ids, and those of timers that have fired, are ignored.
  void cancel_timer(std::uint64_t id);
  /// Calls `fn` at the next turn. The one thread-safe member, for completions.
  void post(std::function<void()> fn);

  /// Handles events, due timers and ready tasks until nothing is left to do now; returns the time
  /// of the next timer (kNever if none).
  TimePoint run_ready();
  /// Time of the next timer, kNever if none.
  [[nodiscard]] TimePoint next_timer() const;
  /// run_ready and wait, until `stop()`.
  void run();
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  friend class Signal;
  friend class detail::Waiter;
  struct Impl;
  void post_offload(Offload kind, std::function<void()> fn, Duration cost,
                    std::function<void()> done);
  template <typename F>
  auto offloaded(Offload kind, F fn, Duration cost) -> Task<std::invoke_result_t<F&>>;
  void make_ready(detail::Waiter& waiter);
  bool run_posted();
  bool run_events();
  bool run_timers();
  bool run_tasks();

  Endpoint& endpoint_;
  std::function<void(Event&)> handler_;
  std::map<TaskId, Task<void>> tasks_;
  bool stopped_ = false;
  std::unique_ptr<Impl> impl_;
};

/// Runs all tasks at once; ends when the last has ended. Their values in order. If some threw, the
/// first of them in order is thrown again, after the last has ended.
template <typename T>
Task<std::vector<T>> when_all(Loop& loop, std::vector<Task<T>> tasks);
Task<void> when_all(Loop& loop, std::vector<Task<void>> tasks);
/// Runs all tasks; ends with the index of the first that ends (throws what it threw), the others
/// are destroyed. Requires: at least one task.
Task<std::size_t> when_any(Loop& loop, std::vector<Task<void>> tasks);

}  // namespace shoal::comm

#include "comm/loop_impl.h"
