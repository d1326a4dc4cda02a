#include "comm/loop.h"

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "ops/base/check.h"
#include "ops/fp_env.h"

namespace shoal::comm {
namespace {

/// Functions posted from any thread. Outlives the loop, since workers may finish after it.
class Inbox {
 public:
  explicit Inbox(Endpoint& endpoint) : endpoint_(&endpoint) {}

  void post(std::function<void()> fn) {
    const std::lock_guard lock(mutex_);
    if (endpoint_ == nullptr) {
      return;
    }
    posted_.push_back(std::move(fn));
    any_.store(true, std::memory_order_release);
    endpoint_->wake();
  }
  void take(std::vector<std::function<void()>>& out) {
    if (!any_.load(std::memory_order_acquire)) {
      return;
    }
    const std::lock_guard lock(mutex_);
    any_.store(false, std::memory_order_relaxed);
    out.swap(posted_);
  }
  /// From now on what is posted is dropped.
  void close() {
    const std::lock_guard lock(mutex_);
    endpoint_ = nullptr;
    posted_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  Endpoint* endpoint_;
  std::atomic<bool> any_{false};
};

}  // namespace

struct Loop::Impl {
  class FunctionTimer final : public Timer {
   public:
    FunctionTimer(Impl& impl, std::uint64_t id) : impl_(impl), id_(id) {}
    void set(std::function<void()> fn) { fn_ = std::move(fn); }
    void fire() override {
      const auto fn = std::move(fn_);
      impl_.functions.erase(id_);  // destroys this
      fn();
    }

   private:
    Impl& impl_;
    std::uint64_t id_;
    std::function<void()> fn_;
  };

  explicit Impl(Endpoint& endpoint) : inbox(std::make_shared<Inbox>(endpoint)) {}

  std::shared_ptr<Inbox> inbox;
  std::vector<std::function<void()>> posted;  // taken from the inbox, kept for its room
  Timers timers;
  std::unordered_map<std::uint64_t, FunctionTimer> functions;
  detail::Waiters ready;
  std::vector<std::pair<TaskId, std::coroutine_handle<>>> spawned;
  std::vector<TaskId> finished;
  Workers* workers = nullptr;
  std::array<TimePoint, kOffloadKinds> busy_until{};  // of each kind, in virtual time
  std::uint64_t next_id = 1;
};

namespace {

Task<void> root(Task<void> task, std::vector<Loop::TaskId>& finished, Loop::TaskId id) {
  try {
    co_await task;
  } catch (const std::exception& e) {
    check_failed("a spawned task ends without an exception", e.what(), __FILE__, __LINE__);
  } catch (...) {
    SHOAL_CHECK(false, "a spawned task ends without an exception");
  }
  finished.push_back(id);
}

}  // namespace

namespace detail {

void Waiter::suspend(std::coroutine_handle<> handle, TimePoint deadline) {
  handle_ = handle;
  if (deadline != kNever) {
    loop_.impl_->timers.arm(*this, deadline);
  }
}

void Waiter::fire() {
  timed_out_ = true;
  loop_.make_ready(*this);
}

}  // namespace detail

void Signal::notify() {
  while (!waiting_.empty()) {
    loop_.make_ready(waiting_.front());
  }
}

Loop::Loop(Endpoint& endpoint, Workers* workers)
    : endpoint_(endpoint), impl_(std::make_unique<Impl>(endpoint)) {
  SHOAL_CHECK(workers != nullptr || endpoint.virtual_time(), "real time needs workers");
  impl_->workers = workers;
}

Loop::~Loop() {
  impl_->inbox->close();
  while (!tasks_.empty()) {
    cancel(tasks_.begin()->first);  // what its destructors call still finds a whole loop
  }
}

Loop::TaskId Loop::spawn(Task<void> task) {
  const TaskId id = impl_->next_id++;
  auto& owned = tasks_.emplace(id, root(std::move(task), impl_->finished, id)).first->second;
  impl_->spawned.emplace_back(id, owned.handle());
  return id;
}

void Loop::cancel(TaskId id) {
  const auto node = tasks_.extract(id);  // gone from the map before any destructor runs
  static_cast<void>(node);
}

std::uint64_t Loop::add_timer(TimePoint when, std::function<void()> fn) {
  const std::uint64_t id = impl_->next_id++;
  auto& timer = impl_->functions.try_emplace(id, *impl_, id).first->second;
  timer.set(std::move(fn));
  impl_->timers.arm(timer, when);
  return id;
}

void Loop::cancel_timer(std::uint64_t id) {
  const auto node = impl_->functions.extract(id);
  static_cast<void>(node);
}

void Loop::post(std::function<void()> fn) { impl_->inbox->post(std::move(fn)); }

void Loop::post_offload(Offload kind, std::function<void()> fn, Duration cost,
                        std::function<void()> done) {
  if (endpoint_.virtual_time()) {
    fn();
    auto& busy = impl_->busy_until[static_cast<std::size_t>(kind)];
    busy = std::max(busy, now()) + cost;
    add_timer(busy, std::move(done));
    return;
  }
  impl_->workers->post(kind, std::move(fn),
                       [inbox = impl_->inbox, done = std::move(done)] { inbox->post(done); });
}

void Loop::make_ready(detail::Waiter& waiter) {
  waiter.disarm();
  waiter.leave_list();
  impl_->ready.push_back(waiter);
}

bool Loop::run_posted() {
  impl_->inbox->take(impl_->posted);
  const bool any = !impl_->posted.empty();
  for (const auto& fn : impl_->posted) {
    fn();
  }
  impl_->posted.clear();
  return any;
}

bool Loop::run_events() {
  auto events = endpoint_.take_events();
  for (Event& event : events) {
    if (handler_) {
      handler_(event);
    }
  }
  return !events.empty();
}

bool Loop::run_timers() {
  const TimePoint time = now();
  bool any = false;
  while (Timer* const timer = impl_->timers.pop_due(time)) {
    timer->fire();
    any = true;
  }
  return any;
}

bool Loop::run_tasks() {
  bool any = false;
  while (!impl_->spawned.empty()) {
    const auto spawned = std::exchange(impl_->spawned, {});
    for (const auto& [id, handle] : spawned) {
      if (tasks_.contains(id)) {  // not cancelled meanwhile
        handle.resume();
      }
    }
    any = true;
  }
  while (!impl_->ready.empty()) {
    detail::Waiter& waiter = impl_->ready.front();
    impl_->ready.pop_front();
    waiter.handle_.resume();
    any = true;
  }
  for (const TaskId id : std::exchange(impl_->finished, {})) {
    cancel(id);
  }
  return any;
}

TimePoint Loop::run_ready() {
  for (bool any = true; any;) {
    any = run_posted();
    any = run_events() || any;
    any = run_timers() || any;
    any = run_tasks() || any;
  }
  return next_timer();
}

TimePoint Loop::next_timer() const { return impl_->timers.next(); }

void Loop::run() {
  ops::set_strict_fp_env();  // with virtual time, or for small sums, this thread computes too
  while (!stopped_) {
    const TimePoint next = run_ready();
    if (!stopped_) {
      endpoint_.wait(next);
    }
  }
}

Task<void> when_all(Loop& loop, std::vector<Task<void>> tasks) {
  co_await detail::run_all(loop, std::move(tasks));
}

Task<std::size_t> when_any(Loop& loop, std::vector<Task<void>> tasks) {
  SHOAL_CHECK(!tasks.empty(), "when_any waits for at least one task");
  detail::Children children(loop);
  std::vector<detail::Outcome<void>> outcomes(tasks.size());
  const std::vector<Task<void>> running = detail::start(children, tasks, outcomes);
  while (children.count == 0) {
    co_await children.ended.wait();
  }
  if (outcomes[children.first].exception) {
    std::rethrow_exception(outcomes[children.first].exception);
  }
  co_return children.first;
}

}  // namespace shoal::comm
