#include "comm/workers.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "ops/base/check.h"
#include "ops/fp_env.h"

namespace shoal::comm {

class ThreadWorkers::Worker {
 public:
  Worker() : thread_([this] { enter(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> fn, std::function<void()> done) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(fn), std::move(done)});
    }
    changed_.notify_one();
  }

 private:
  struct Job {
    std::function<void()> fn;
    std::function<void()> done;
  };

  void enter() noexcept {
    ops::set_strict_fp_env();
    try {
      while (run_next()) {
      }
    } catch (const std::exception& e) {
      // Loop::offload hands on what a function throws; only a bug gets here.
      check_failed("an offloaded function throws nothing", e.what(), __FILE__, __LINE__);
    } catch (...) {
      check_failed("an offloaded function throws nothing", "not a std::exception", __FILE__,
                   __LINE__);
    }
  }
  bool run_next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) {
      return false;
    }
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job.fn();
    job.done();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  bool closing_ = false;
  std::thread thread_;  // last: it uses all of the above
};

ThreadWorkers::ThreadWorkers() {
  for (auto& worker : workers_) {
    worker = std::make_unique<Worker>();
  }
}

ThreadWorkers::~ThreadWorkers() {
  for (auto& worker : workers_) {  // compute first: what it runs to its end may still post to io
    worker.reset();
  }
}

void ThreadWorkers::post(Offload kind, std::function<void()> fn, std::function<void()> done) {
  workers_[static_cast<std::size_t>(kind)]->post(std::move(fn), std::move(done));
}

}  // namespace shoal::comm
