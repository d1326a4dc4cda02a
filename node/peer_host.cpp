#include "node/peer_host.h"

#include <algorithm>
#include <utility>

namespace shoal::node {
namespace {

/// Between two looks at who is here: hellos need no message of their own to tell us.
constexpr Duration kLook = std::chrono::milliseconds(50);

}  // namespace

PeerHost::PeerHost(comm::Loop& loop, PeerParts parts, HostOptions options)
    : loop_(loop),
      options_(std::move(options)),
      granules_(parts.architecture->map().granule_count()),
      changed_(loop) {
  comm::SessionOptions session;
  session.facts = {options_.run, model_fingerprint(parts), options_.keys_hash, false};
  session.name = options_.peer.name;
  session.addresses = options_.addresses;
  session.rate = options_.rate;
  session.draw_session = options_.draw_session;
  comm::SessionHandlers handlers;
  handlers.refused = [this](const comm::PeerId&, const comm::Refuse& refuse, bool by_us) {
    if (!by_us && refuse.reason != comm::RefuseReason::kBanned) {
      refused_ = refuse;
      changed_.notify();
    }
  };
  handlers.dial_failed = [this](const comm::DialFailed& failed) {
    dial_sentence_ = failed.sentence;
  };
  session_ = std::make_unique<comm::Session>(loop_, std::move(session), std::move(handlers),
                                             options_.peer.log);
  PeerOptions peer = options_.peer;
  peer.sources.totals = [&endpoint = loop_.endpoint()] { return endpoint.totals(); };
  peer.sources.dropped = [this] { return session_->counters(); };
  peer.sources.round_trip = [this] { return round_trip(); };
  peer.on_status = [this](const PeerStatus& status) {
    session_->set_status({status.round, status.step, static_cast<float>(status.loss),
                          static_cast<float>(status.samples_per_s)});
    if (options_.peer.on_status) {
      options_.peer.on_status(status);
    }
  };
  peer_ = std::make_unique<Peer>(loop_, *session_, std::move(parts), std::move(peer));
}

PeerHost::~PeerHost() = default;

Duration PeerHost::round_trip() const {
  Duration slowest{0};
  for (const comm::PeerInfo& peer : session_->peers()) {
    slowest = std::max(slowest, peer.round_trip);
  }
  return slowest;
}

void PeerHost::request_stop() {
  if (begun_) {
    peer_->request_stop();
  } else {
    cancelled_ = true;
    changed_.notify();
  }
}

void PeerHost::request_leave() {
  if (begun_) {
    peer_->request_leave();
  } else {
    request_stop();
  }
}

std::string PeerHost::missing() const {
  std::string text;
  for (const comm::PeerInfo& peer : session_->peers()) {
    if (!session_->alive(peer.id)) {
      text += (text.empty() ? "" : ", ") + peer.id.short_id() + " (" + peer.state + ")";
    }
  }
  return text + (dial_sentence_.empty() ? "" : "; " + dial_sentence_);
}

/// Members stand in the order of their ids; all see the same hellos, so all make the same view.
PeerStart PeerHost::start_of(const std::vector<comm::PeerId>& others) const {
  comm::View view;
  view.members.push_back({{session_->self(), session_->own_session()}, 0, 1});
  for (const comm::PeerId& peer : others) {
    view.members.push_back({{peer, session_->session_of(peer)}, 0, 1});
  }
  std::sort(view.members.begin(), view.members.end(),
            [](const comm::Member& a, const comm::Member& b) { return a.id < b.id; });
  view.bounds = comm::balance_bounds(view.members, granules_);
  // A branch is as new as the sessions of its members, which are random.
  std::uint64_t branch = options_.run;
  for (const comm::Member& member : view.members) {
    branch = mix(branch, member.id.session);
  }
  return {std::move(view), branch};
}

comm::Task<Result<PeerStart>> PeerHost::gather() {
  for (const comm::PeerCard& card : options_.roster) {
    if (card.id != session_->self()) {
      session_->allow(card.id, card.addresses);
    }
  }
  const TimePoint end =
      options_.gather_within == kNever.since_start ? kNever : loop_.now() + options_.gather_within;
  for (;;) {
    const auto others = session_->alive_peers();
    if (others.size() + 1 >= options_.members) {
      co_return start_of(others);
    }
    if (cancelled_) {
      co_return Error{Code::kCancelled, "interrupted while waiting for the others", {}};
    }
    if (refused_.has_value()) {
      co_return network_error("the run refuses this peer: " + refused_->sentence);
    }
    if (loop_.now() >= end) {
      co_return network_error("only " + std::to_string(others.size() + 1) + " of " +
                              std::to_string(options_.members) +
                              " members came in time; missing: " + missing());
    }
    co_await changed_.wait(std::min(end, loop_.now() + kLook));
  }
}

comm::Task<PeerSummary> PeerHost::run() {
  auto start = co_await gather();
  if (!start.ok()) {
    PeerSummary summary;
    summary.id = session_->self().hex();
    summary.name = options_.peer.name;
    summary.status = start.error().code == Code::kCancelled ? "left" : "failed";
    summary.error = start.error().message;
    summary.exit_code = exit_code(start.error().code);
    session_->leave(summary.error);
    co_return summary;
  }
  begun_ = true;
  PeerSummary summary = co_await peer_->run(std::move(*start));
  session_->leave(summary.status);
  co_return summary;
}

}  // namespace shoal::node
