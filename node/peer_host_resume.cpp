// Peers of several machines that go on from checkpoints: each says which rounds it holds.
#include <algorithm>
#include <set>
#include <string>

#include "node/peer_host.h"
#include "node/resume_round.h"

namespace shoal::node {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(50);
/// Heartbeats come twice a second; who has said nothing by then holds nothing. Long, because those
/// that did not hear the same may not agree.
constexpr Duration kHeldWithin = std::chrono::seconds(10);

}  // namespace

std::optional<std::uint64_t> agreed_round(const std::vector<std::vector<std::uint64_t>>& held,
                                          std::size_t members) {
  std::map<std::uint64_t, std::size_t> holders;
  for (const auto& rounds : held) {
    for (const std::uint64_t round : std::set(rounds.begin(), rounds.end())) {
      ++holders[round];
    }
  }
  for (const std::size_t enough : {members, members / 2 + 1}) {
    for (auto it = holders.rbegin(); it != holders.rend(); ++it) {
      if (it->second >= enough) {
        return it->first;
      }
    }
  }
  return std::nullopt;
}

/// Says what we hold in heartbeats, where a peer at work says its round and step, and remembers
/// what others said first: later they say where they are.
comm::Task<void> PeerHost::note_held() {
  const auto& mine = options_.held;
  session_->set_status({mine[0], mine.size() > 1 ? mine[1] : mine[0], 0, 0});
  for (;;) {
    for (const comm::PeerInfo& peer : session_->peers()) {
      if (session_->alive(peer.id) && peer.status.round > 0) {
        held_.try_emplace(peer.id, std::vector{peer.status.round, peer.status.step});
      }
    }
    co_await loop_.sleep_for(kLookEvery);
  }
}

comm::Task<Status> PeerHost::agree_on_round(PeerStart& start) {
  if (!start.first_view.has_value()) {
    // The run is on: its state comes from the others, what this peer owes from its checkpoint.
    start.resume_round = options_.held.front();
    co_return Status();
  }
  const auto all_said = [&] {
    const auto& members = start.first_view->members;
    return std::all_of(members.begin(), members.end(), [&](const comm::Member& m) {
      return m.id.peer == session_->self() || held_.contains(m.id.peer);
    });
  };
  const auto noting = loop_.spawn(note_held());
  const TimePoint end = loop_.now() + kHeldWithin;
  while (!all_said() && loop_.now() < end) {
    co_await loop_.sleep_for(kLookEvery);
  }
  loop_.cancel(noting);
  std::vector<std::vector<std::uint64_t>> held = {options_.held};
  for (const comm::Member& m : start.first_view->members) {
    if (const auto it = held_.find(m.id.peer); it != held_.end()) {
      held.push_back(it->second);
    }
  }
  const auto round = agreed_round(held, start.first_view->size());
  if (!round.has_value()) {
    co_return data_error(
        "more than half of the peers would have to hold a checkpoint of the same "
        "round, and they don't; start them without --resume");
  }
  const auto& mine = options_.held;
  if (std::find(mine.begin(), mine.end(), *round) != mine.end()) {
    options_.peer.log.info("going on from round " + std::to_string(*round));
    start.resume_round = round;
    co_return Status();
  }
  options_.peer.log.info("the others go on from round " + std::to_string(*round) +
                         ", of which this peer holds no checkpoint: it enters the run anew");
  session_->renew_session();  // a joiner, not the member that the view names
  start.first_view.reset();
  start.early.clear();
  co_return Status();
}

}  // namespace shoal::node
