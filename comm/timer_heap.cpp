#include "comm/timer_heap.h"

#include "ops/base/check.h"

namespace shoal::comm {

void Timer::disarm() {
  if (heap_ != nullptr) {
    heap_->remove(*this);
  }
}

TimerHeap::~TimerHeap() {
  for (Timer* timer : heap_) {
    timer->heap_ = nullptr;
  }
}

void TimerHeap::arm(Timer& timer, TimePoint when) {
  SHOAL_CHECK(timer.heap_ == nullptr, "a timer is armed once");
  timer.heap_ = this;
  timer.when_ = when;
  timer.order_ = armed_count_++;
  heap_.push_back(&timer);
  timer.index_ = heap_.size() - 1;
  sift_up(timer.index_);
}

Timer* TimerHeap::pop_due(TimePoint now) {
  if (heap_.empty() || heap_.front()->when_ > now) {
    return nullptr;
  }
  Timer* const timer = heap_.front();
  remove(*timer);
  return timer;
}

bool TimerHeap::before(const Timer& a, const Timer& b) {
  return a.when_ != b.when_ ? a.when_ < b.when_ : a.order_ < b.order_;
}

void TimerHeap::remove(Timer& timer) {
  const std::size_t index = timer.index_;
  timer.heap_ = nullptr;
  Timer* const last = heap_.back();
  heap_.pop_back();
  if (last == &timer) {
    return;
  }
  place(index, last);
  sift_up(index);
  sift_down(last->index_);
}

void TimerHeap::place(std::size_t index, Timer* timer) {
  heap_[index] = timer;
  timer->index_ = index;
}

void TimerHeap::sift_up(std::size_t index) {
  Timer* const timer = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!before(*timer, *heap_[parent])) {
      break;
    }
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, timer);
}

void TimerHeap::sift_down(std::size_t index) {
  Timer* const timer = heap_[index];
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) {
      break;
    }
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) {
      ++child;
    }
    if (!before(*heap_[child], *timer)) {
      break;
    }
    place(index, heap_[child]);
    index = child;
  }
  place(index, timer);
}

}  // namespace shoal::comm
