#include "node/peer_host.h"

#include <algorithm>
#include <utility>

namespace shoal::node {

PeerHost::PeerHost(comm::Loop& loop, PeerParts parts, HostOptions options)
    : loop_(loop),
      options_(std::move(options)),
      granules_(parts.exchange->map().granule_count()),
      may_cut_(
          comm::cuts_of(parts.answer_codec->first(),
                        std::shared_ptr<const ParamMap>(parts.exchange, &parts.exchange->map()))),
      membership_(loop_, options_.membership, options_.peer.log),
      changed_(loop) {
  comm::SessionOptions session;
  session.facts = {options_.membership.run, model_fingerprint(parts), options_.keys_hash, false};
  session.name = options_.membership.name;
  session.addresses = options_.membership.addresses;
  session.rate = options_.rate;
  session.draw_session = options_.draw_session;
  comm::SessionHandlers handlers;
  membership_.install(handlers);
  handlers.refused = [this](const comm::PeerId& peer, const comm::Refuse& refuse, bool by_us) {
    if (peer == options_.founder && refuse.reason != comm::RefuseReason::kBanned) {
      refused_ =
          (by_us ? "the peer that makes the run does not fit: " : "the run refuses this peer: ") +
          refuse.sentence;
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
    // Until a round has ended, others may still have to hear which rounds this peer holds.
    if (status.round > 0 || options_.held.empty()) {
      session_->set_status({status.round, status.step, static_cast<float>(status.loss),
                            static_cast<float>(status.samples_per_s)});
    }
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

void PeerHost::set_paused(bool paused) {
  if (begun_) {
    peer_->set_paused(paused);
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

comm::Task<void> PeerHost::found(std::optional<Result<comm::FirstView>>& out) {
  comm::FoundingOptions founding;
  founding.members = options_.members;
  founding.granules = granules_;
  founding.may_cut = may_cut_;
  founding.founder = options_.founder == session_->self();
  founding.branch = options_.draw_session();
  founding.rate = options_.rate;
  founding.alone_within = options_.alone_within;
  const bool patient = options_.gather_within == Duration::max();
  const TimePoint end = patient ? kNever : loop_.now() + options_.gather_within;
  out = co_await comm::wait_for_members(loop_, *session_, founding, end, options_.peer.log);
}

/// Ends when there is no use in waiting for the others.
comm::Task<void> PeerHost::turned_away() {
  while (!cancelled_ && refused_.empty()) {
    co_await changed_.wait();
  }
}

comm::Task<Result<PeerStart>> PeerHost::gather() {
  membership_.start(*session_, options_.roster);
  std::optional<Result<comm::FirstView>> first;
  std::vector<comm::Task<void>> either;
  either.push_back(found(first));
  either.push_back(turned_away());
  if (!options_.held.empty()) {
    either.push_back(note_held());
  }
  co_await comm::when_any(loop_, std::move(either));
  if (cancelled_) {
    co_return Error{Code::kCancelled, "interrupted while waiting for the others", {}};
  }
  if (!first.has_value()) {
    co_return network_error(refused_);
  }
  if (!first->ok()) {
    Error error = first->error();
    error.message += "; missing: " + missing();
    co_return error;
  }
  PeerStart start;
  if (!(*first)->running) {
    start.first_view = std::move((*first)->view);
    start.branch = (*first)->branch;
    start.early = std::move((*first)->early);
  }
  if (!options_.held.empty()) {
    Status agreed = co_await agree_on_round(start);
    if (!agreed.ok()) {
      co_return agreed.error();
    }
  }
  co_return start;
}

comm::Task<PeerSummary> PeerHost::run() {
  auto start = co_await gather();
  if (!start.ok()) {
    PeerSummary summary;
    summary.id = session_->self().hex();
    summary.name = options_.membership.name;
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
