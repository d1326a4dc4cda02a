// The worker that is to stop for a while.
#include "node/worker.h"

namespace shoal::node {
namespace {

/// Rounds from one leaver to the next: a leave is in the view two rounds later.
constexpr std::uint64_t kLeaveRounds = 3;
/// How often the last member, standing still, lets in who waits at the door.
constexpr Duration kDoorEvery = std::chrono::seconds(10);

}  // namespace

void Worker::request_leave() {
  leaving_ = true;
  pause_changed_.notify();
}

void Worker::request_stop() {
  stop_requested_ = wished_ = true;
  pause_changed_.notify();
}

void Worker::wish_pause(bool wish) {
  if (wish != pause_wished_) {
    pause_wished_ = wish;
    pause_changed_.notify();
  }
}

/// Members take turns, so that of a view whose members all pause at once one leaves after the
/// other, and a majority of the rest always stands.
bool Worker::may_pause(std::uint64_t round) const {
  const comm::View& view = group_->view();
  const auto index = view.index_of(self_);
  return pause_wished_ && index.has_value() && view.size() > 1 &&
         round % (kLeaveRounds * view.size()) == kLeaveRounds * *index;
}

/// Waits while this peer pauses as the last member. True when a round is to be held to which
/// nobody contributes, so that others may come in.
comm::Task<bool> Worker::stand_still() {
  const auto wished = [this] {
    return pause_wished_ && group_->view().size() == 1 && !leaving_ && !stop_requested_;
  };
  bool open = false;
  while (!open && wished()) {
    still_ = true;
    const bool changed = co_await pause_changed_.wait(loop_.now() + kDoorEvery);
    open = !changed && wished() && options_.others && options_.others();
  }
  still_ = wished();
  co_return open;
}

}  // namespace shoal::node
