#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/endpoint.h"
#include "comm/task.h"
#include "ops/base/clock.h"

namespace shoal::comm {

/// The thread an offloaded computation belongs to: compute is the only one that calls BLAS or the
/// GPU, codec encodes, decodes and reduces, io reads and writes files.
enum class Offload : std::uint8_t { kCompute, kCodec, kIo };

class Loop;

/// Runs offloaded functions. The real one has a thread a kind (workers.h); with virtual time the
/// loop runs them inline.
class Workers {
 public:
  virtual ~Workers() = default;
  /// Runs `fn` on the thread of its kind, in order; `done` is called there when it has run.
  virtual void post(Offload kind, std::function<void()> fn, std::function<void()> done) = 0;
};

/// A condition that tasks wait for: set once or pulsed. Not thread-safe; lives on the loop.
class Signal {
 public:
  explicit Signal(Loop& loop) : loop_(loop) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal();

  /// Wakes every task that waits now.
  void notify();

  class Awaiter;
  /// Waits for the next notify; false when the deadline passed first.
  Awaiter wait(TimePoint deadline = kNever);

 private:
  friend class Loop;
  Loop& loop_;
  std::list<Awaiter*> waiting_;
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
  /// Suspends until the time has come.
  SleepAwaiter sleep_until(TimePoint when);
  SleepAwaiter sleep_for(Duration d);

  /// Runs `fn` on the thread of its kind and gives its result back on the loop. `cost` is what it
  /// takes in virtual time (from a table, never measured); offloads of one kind queue behind each
  /// other. `fn` owns its buffers: if the awaiting task is destroyed, it still runs to its end.
  template <typename F>
  auto offload(Offload kind, F fn, Duration cost = Duration{0}) -> Task<std::invoke_result_t<F>>;

  /// Calls `fn` once at `when` on the loop; returns an id for `cancel_timer`.
  std::uint64_t add_timer(TimePoint when, std::function<void()> fn);
  void cancel_timer(std::uint64_t id);
  /// Calls `fn` at the next turn. The one thread-safe member, for completions.
  void post(std::function<void()> fn);

  /// Handles events, due timers and ready tasks until nothing is left to do now; returns the time
  /// of the next timer (kNever if none).
  TimePoint run_ready();
  /// run_ready and wait, until `stop()`.
  void run();
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  friend class Signal;
  struct Impl;
  void run_inline(Offload kind, const std::function<void()>& fn, Duration cost,
                  std::function<void()> done);
  void post_offload(Offload kind, std::function<void()> fn, Duration cost,
                    std::function<void()> done);
  void schedule(std::coroutine_handle<> handle);
  void unschedule(std::coroutine_handle<> handle);

  Endpoint& endpoint_;
  std::function<void(Event&)> handler_;
  std::map<TaskId, Task<void>> tasks_;
  bool stopped_ = false;
  std::unique_ptr<Impl> impl_;
};

/// Runs all tasks at once; ends when the last has ended. Their values in order.
template <typename T>
Task<std::vector<T>> when_all(Loop& loop, std::vector<Task<T>> tasks);
Task<void> when_all(Loop& loop, std::vector<Task<void>> tasks);
/// Runs all tasks; ends with the index of the first that ends, the others are destroyed.
Task<std::size_t> when_any(Loop& loop, std::vector<Task<void>> tasks);

}  // namespace shoal::comm
