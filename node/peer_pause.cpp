// A peer that is out of its group for a while.
#include <utility>

#include "node/peer.h"

namespace shoal::node {
namespace {

/// How often a peer knocks after a pause, a minute each. A last member that stands still opens its
/// door more often than that; who hears nothing for so long has only others at the door with it.
constexpr int kKnocks = 10;

}  // namespace

void Peer::set_paused(bool paused) {
  if (paused != worker_->pause_wished()) {
    metrics_->event(paused ? "pause" : "resume", "");
  }
  worker_->wish_pause(paused);
  pause_changed_.notify();
}

comm::GroupStats Peer::group_stats() const {
  comm::GroupStats sum = group_->stats();
  sum.rounds += past_stats_.rounds;
  sum.recoveries += past_stats_.recoveries;
  sum.left_out += past_stats_.left_out;
  sum.repairs += past_stats_.repairs;
  sum.forks += past_stats_.forks;
  for (const auto& [reason, count] : past_stats_.refused) {
    sum.refused[reason] += count;
  }
  sum.residuals_lost.insert(sum.residuals_lost.begin(), past_stats_.residuals_lost.begin(),
                            past_stats_.residuals_lost.end());
  return sum;
}

/// Leaves the group, waits, enters again. What this peer owes the group it takes along.
comm::Task<Status> Peer::pause() {
  const Status saved = co_await worker_->checkpoint();
  if (!saved.ok()) {
    options_.log.warning("no checkpoint at the pause: " + saved.error().message);
  }
  static_cast<void>(co_await group_->settled());
  ByteWriter owed;
  group_->save_private(owed);
  const Bytes own = owed.take_bytes();
  away_ = true;
  state_ = "paused";
  group_->leave("it pauses");
  net_.set_receiver(nullptr);
  while (worker_->pause_wished() && !leaving()) {
    co_await pause_changed_.wait();
  }
  if (leaving()) {
    worker_->request_leave();  // there is no round that could end the run for us
    co_return Status();
  }
  co_return co_await come_back(own);
}

comm::Task<Status> Peer::come_back(const Bytes& own) {
  state_ = "entering";
  past_stats_ = group_stats();
  net_.renew_session();
  make_group();
  ByteReader owed(own.span());
  Status loaded = group_->load_private(owed);
  if (!loaded.ok()) {
    co_return loaded;
  }
  net_.set_receiver(group_.get());
  training_ = true;  // a wish to leave ends the wait
  for (int knock = 1;; ++knock) {
    auto entered = co_await group_->enter(1);
    if (entered.ok()) {
      options_.log.info("back in the run at round " + std::to_string(*entered));
      break;
    }
    const bool over = net_.alive_peers().empty() || knock == kKnocks;
    if (entered.error().code != Code::kNetwork || over) {
      training_ = false;
      co_return over ? Error{Code::kCancelled, "the run went on to its end meanwhile", {}}
                     : entered.error();
    }
  }
  training_ = false;
  away_ = false;
  worker_->pause_over();
  co_return Status();
}

}  // namespace shoal::node
