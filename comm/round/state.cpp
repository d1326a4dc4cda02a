#include <algorithm>

#include "comm/round/engine.h"

namespace shoal::comm {
namespace {

Bytes joined(const Bytes& a, const Bytes& b) {
  ByteWriter out;
  out.reserve(a.size() + b.size());
  out.put_bytes(a.span());
  out.put_bytes(b.span());
  return out.take_bytes();
}

}  // namespace

Task<Result<std::uint64_t>> GroupMean::Engine::enter(double speed) {
  speed_ = speed;
  joining_ = true;
  state_needed_ = true;
  progress_ = loop_.now();
  ask_for_state();
  wake_later();
  while (!closed_ && state_needed_ && loop_.now() < progress_ + options_.give_up) {
    co_await changed_.wait(progress_ + options_.give_up);
  }
  if (closed_) {
    co_return Error{Code::kCancelled, "left the group: " + closed_why_, {}};
  }
  if (state_needed_) {
    co_return network_error("no member of the run let this peer in, or sent it the state, for " +
                            std::to_string(static_cast<int>(seconds(options_.give_up))) +
                            " s; is the run still going on?");
  }
  repair_ = false;
  returned_ = committed_;
  owed_ = end_.owed;
  co_return committed_;
}

void GroupMean::Engine::on_join(const PeerId& from, const Header& header, const Join& join) {
  if (!member_) {
    return;
  }
  const MemberId id{from, header.session};
  if (cur_.view.index_of(id)) {
    say_stale(from);  // it is in: let it ask for the state
    return;
  }
  const std::uint64_t known = net_.rate_of(from);
  wishes_[from] = {id, known > 0 ? known : join.rate, join.speed};
}

void GroupMean::Engine::on_state_request(const PeerId& from, const Header& header,
                                         const StateRequest& request) {
  if (!member_ || !cur_.view.index_of(MemberId{from, header.session})) {
    net_.count("state-request-of-a-stranger");
    say_stale(from);
    return;
  }
  if (served_.contains(from) && !lost_to(from)) {
    net_.count("state-on-its-way");
    return;
  }
  state_waiters_[from] = request.pending_round;
  serve_state();
  wake_later();
}

/// Sends the state to those who wait for it, as soon as what the host has applied is exactly what
/// is committed.
void GroupMean::Engine::serve_state() {
  if (state_waiters_.empty() || !member_ || state_needed_ || repair_ ||
      host_.applied_round() != committed_) {
    return;
  }
  const auto snapshot = host_.snapshot();
  if (!snapshot) {
    return;
  }
  const Bytes codec = codec_state();
  const Bytes state = codec.empty() ? *snapshot : joined(*snapshot, codec);
  for (const auto& [peer, pending_round] : state_waiters_) {
    StateReply reply;
    reply.codec_state_bytes = codec.size();
    reply.committed_hash = cur_.parent;
    reply.committed_work = static_cast<std::uint64_t>(work_);
    reply.stop = end_.stop;
    reply.owed = end_.owed;
    reply.view = cur_.view;
    if (const auto* record = find_record(pending_round)) {
      reply.record_known = true;
      reply.record = record->contributors;
    }
    Message m = framed(cur_.promised, std::move(reply));
    m.payload = state;
    post(peer, Class::kBulk, std::move(m));
    served_.insert(peer);
  }
  state_waiters_.clear();
}

const RoundRecord* GroupMean::Engine::find_record(std::uint64_t round) const {
  const auto it = std::find_if(records_.begin(), records_.end(),
                               [&](const RoundRecord& r) { return r.round == round; });
  return it == records_.end() ? nullptr : &*it;
}

void GroupMean::Engine::on_state_reply(const PeerId& from, const Message& message,
                                       const StateReply& reply) {
  const auto& h = message.header;
  if (!state_needed_ || !fits_model(reply.view) || !reply.view.index_of(self())) {
    net_.count("unasked-state");
    return;
  }
  const bool same_branch = !joining_ && h.branch == branch_;
  if (h.round == 0 || (!joining_ && !same_branch) || (same_branch && h.round < cur_.round)) {
    net_.count("old-state");
    return;
  }
  const auto codec_bytes = static_cast<std::size_t>(reply.codec_state_bytes);
  const std::size_t rest = message.payload.size() - codec_bytes;
  auto codec_state = read_state(cur_.codec_state, message.payload.span().subspan(rest));
  const Status status = codec_state.ok()
                            ? host_.restore(message.payload.slice(0, rest), h.round - 1)
                            : Status(codec_state.error());
  if (!status.ok()) {
    log_.warning("the state that " + from.short_id() +
                 " sent is refused: " + status.error().message);
    net_.penalise(from, "bad-state");
    return;
  }
  adopt(h, reply, std::move(codec_state).value());
}

void GroupMean::Engine::adopt(const Header& header, const StateReply& reply,
                              CodecState codec_state) {
  const bool fits = cur_.own && reply.record_known && reply.record.size() == cur_.parts() &&
                    header.round > cur_.round;
  if (fits) {
    RoundRecord record;
    record.round = cur_.round;
    record.view = cur_.view;
    record.contributors = reply.record;
    settle_own(*cur_.own, record, cur_.me, cur_.refused.contains(cur_.me));
  } else if (cur_.own && !cur_.own->empty(cur_.view.whole()) && header.round > cur_.round) {
    note_loss("round " + std::to_string(cur_.round) +
              ": the fate of this peer's contribution is unknown; dropped");
  }
  if (joining_ || header.round > cur_.round) {
    branch_ = header.branch;
    work_ = static_cast<double>(reply.committed_work);
    committed_ = header.round - 1;
    end_ = {reply.stop, reply.owed};
    kept_.clear();
    open(header.round, reply.view, reply.committed_hash, std::move(codec_state));
  } else if (codec_state) {
    // The round is ours already: what was read with the old state is read again.
    cur_.codec_state = std::move(codec_state);
    cur_.decoded_hash = {};
    cur_.decoded.reset();
  }
  joining_ = false;
  member_ = true;
  state_needed_ = false;
  repair_ = true;  // the worker has yet to hear of it
  progress_ = loop_.now();
  touch();
  drain_ahead();
  changed_.notify();
}

/// Of what votes compare: the host's state, and the state of the answers' codec if it has one.
std::optional<Hash256> GroupMean::Engine::state_hash() {
  const auto host = host_.state_hash();
  if (!host || !cur_.codec_state) {
    return host;
  }
  return Hasher().add("shoal state").add(host->span()).add(codec_state().span()).finish();
}

void GroupMean::Engine::need_state(const std::string& why, bool as_joiner) {
  if (state_needed_ && !as_joiner) {
    return;  // asked for already: every message of the rounds we lack says that we lack them
  }
  log_.warning(why + "; fetching the state of the run");
  ++stats_.repairs;
  state_needed_ = true;
  state_asked_.reset();
  state_wait_ = limits::kDeadlineMin;
  join_asked_ = {};
  if (as_joiner) {
    // Votes of the old session never count again.
    net_.renew_session();
    joining_ = true;
    member_ = false;
  }
  wake_later();
  changed_.notify();
}

void GroupMean::Engine::ask_for_state() {
  const auto peers = net_.alive_peers();
  if (joining_) {
    if (join_asked_ != TimePoint{} && loop_.now() < join_asked_ + limits::kHeartbeat) {
      return;
    }
    join_asked_ = loop_.now();
    Message m;
    m.body = Join{0, speed_};
    for (const auto& peer : peers) {
      post(peer, Class::kControl, m);
    }
  } else if (!peers.empty() && may_ask_for_state()) {
    const auto& peer = peers[asked_++ % peers.size()];
    note_asked(peer);
    post(peer, Class::kControl, framed(cur_.promised, StateRequest{cur_.own ? cur_.round : 0}));
  }
}

/// A state may be long on its way: the next peer is asked ever later, at once only for a dead one.
bool GroupMean::Engine::may_ask_for_state() const {
  return !state_asked_ || loop_.now() >= *state_asked_ + state_wait_ || !net_.alive(state_from_);
}

void GroupMean::Engine::note_asked(const PeerId& peer) {
  state_wait_ = state_asked_ ? std::min(2 * state_wait_, limits::kDeadlineMax) : state_wait_;
  state_asked_ = loop_.now();
  progress_ = loop_.now();  // a state takes its time; the pauses grow, so this ends
  state_from_ = peer;
}

}  // namespace shoal::comm
