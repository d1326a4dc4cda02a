#include <algorithm>

#include "comm/round/engine.h"

namespace shoal::comm {

bool GroupMean::Engine::active() const {
  return !pending_.empty() || joining_ || state_needed_ || finishing_ ||
         (member_ && cur_.active_since != kNever) || !state_waiters_.empty();
}

void GroupMean::Engine::on_tick() {
  if (closed_) {
    return;
  }
  if (joining_ || state_needed_) {
    ask_for_state();
  } else if (member_) {
    consider_recovery();
    nudge();
  }
  serve_state();
  advance();
}

void GroupMean::Engine::back_off() {
  const double s = seconds(limits::kDeadlineMin) * (1 + rng_.uniform());
  backoff_until_ = loop_.now() + from_seconds(s);
}

/// The first living member leads a recovery when the deadline has passed; the k-th next after k
/// more. Proved deaths and refusals are not waited for.
void GroupMean::Engine::consider_recovery() {
  const auto usable = usable_members();
  if (consider_minority(usable.size()) || cur_.active_since == kNever ||
      loop_.now() < backoff_until_ || cur_.decided || usable.size() < cur_.view.majority()) {
    return;
  }
  const bool urgent = usable.size() < cur_.view.size() || !cur_.leaves_refused_out(cur_.promised);
  if (!urgent && options_.reproducible) {
    return;
  }
  const auto rank = static_cast<int>(std::distance(usable.begin(), usable.find(cur_.me)));
  const Duration base = urgent ? Duration{0} : round_deadline_.value();
  const Duration step = urgent ? Duration(limits::kHeartbeat) : base;
  if (loop_.now() >= cur_.active_since + base + rank * step) {
    start_ballot();
  }
}

bool GroupMean::Engine::consider_minority(std::size_t usable) {
  if (usable >= cur_.view.majority()) {
    minority_since_ = kNever;
    return false;
  }
  if (minority_since_ == kNever) {
    minority_since_ = loop_.now();
  }
  const bool may = cur_.view.size() == 2 || options_.quorum == Quorum::kAny;
  if (!may || loop_.now() < minority_since_ + limits::kSuspect) {
    return false;
  }
  go_alone();
  return true;
}

/// The round takes long: ask everybody for what is missing, ever more rarely. Reconnections lose
/// frames.
void GroupMean::Engine::nudge() {
  if (cur_.active_since == kNever || loop_.now() < nudge_at_) {
    return;
  }
  cur_.nudge_after = std::min(2 * cur_.nudge_after, Duration(4 * limits::kDeadlineMin));
  nudge_at_ = loop_.now() + cur_.nudge_after;
  broadcast(Class::kControl, framed(cur_.promised, what_is_here()));
  if (cur_.leading && !cur_.leading->proposed && cur_.leading->ballot == cur_.promised) {
    broadcast(Class::kControl, framed(cur_.leading->ballot, Prepare{}));
  }
}

void GroupMean::Engine::say_stale(const PeerId& to) {
  auto& said = stale_said_.try_emplace(to, TimePoint{Duration::min()}).first->second;
  if (!member_ ||
      (said != TimePoint{Duration::min()} && loop_.now() < said + std::chrono::milliseconds(20))) {
    return;
  }
  said = loop_.now();
  post(to, Class::kControl,
       framed(cur_.promised, Stale{cur_.parent, static_cast<std::uint64_t>(work_), cur_.view}));
}

void GroupMean::Engine::on_stale(const PeerId& from, const Header& header, const Stale& stale) {
  if (joining_) {
    const bool inside = stale.view.index_of(self()).has_value();
    if (inside && may_ask_for_state()) {
      note_asked(from);
      Message m;
      m.header.branch = header.branch;
      m.header.round = header.round;
      m.body = StateRequest{cur_.own ? cur_.round : 0};
      post(from, Class::kControl, std::move(m));
    }
    return;
  }
  if (!member_) {
    return;
  }
  if (header.branch != branch_) {
    const auto mine = std::pair(static_cast<std::uint64_t>(work_), branch_);
    if (std::pair(stale.committed_work, header.branch) > mine) {
      need_state("another branch of the run did more work", true);
    } else {
      say_stale(from);
    }
    return;
  }
  cur_.counter_seen =
      std::max(cur_.counter_seen, std::min(header.ballot.counter, limits::kBallotsMax));
  if (header.round == cur_.round + 1) {
    cur_.decided = stale.committed_hash;
  }
  if (header.round > cur_.round) {
    behind(from, header.round, &stale.view);
  }
}

void GroupMean::Engine::behind(const PeerId& from, std::uint64_t their_round,
                               const View* their_view) {
  if (their_round > cur_.round + limits::kRoundsKept) {
    const bool removed = their_view != nullptr && !their_view->index_of(self());
    need_state("this peer fell " + std::to_string(their_round - cur_.round) + " rounds behind",
               removed);
    return;
  }
  // Each answer to a fetch says again how far the others are: one question at a time.
  if (cur_.fetched && loop_.now() < *cur_.fetched + limits::kDeadlineMin / 2) {
    return;
  }
  cur_.fetched = loop_.now();
  post(from, Class::kControl, framed(cur_.promised, what_is_here()));
}

/// As much as decode() takes; what is left out may come once more.
Fetch GroupMean::Engine::what_is_here() const {
  Fetch f;
  for (const auto& [hash, stored] : cur_.answers) {
    f.have.push_back(hash);
  }
  for (const auto& [part, members] : cur_.contributions) {
    for (const auto& [member, stored] : members) {
      f.have.push_back(contribution_key(part, member));
    }
  }
  f.have.resize(std::min(f.have.size(), limits::kMembersMax));
  return f;
}

bool GroupMean::Engine::lost_to(const PeerId& peer) const {
  return net_.idle(peer) && std::none_of(pending_.begin(), pending_.end(), [&](const auto& p) {
           return p.to == peer && p.cls == Class::kBulk;
         });
}

void GroupMean::Engine::on_fetch(const PeerId& from, const Header& header, const Fetch& fetch) {
  if (!member_) {
    return;
  }
  if (header.branch != branch_) {
    say_stale(from);
    return;
  }
  const std::set<Hash256> have(fetch.have.begin(), fetch.have.end());
  if (header.round == cur_.round) {
    if (const auto index = cur_.view.index_of(MemberId{from, header.session})) {
      send_again(from, *index, have);
    } else {
      say_stale(from);
    }
    return;
  }
  if (header.round > cur_.round) {
    behind(from, header.round, nullptr);
    return;
  }
  for (const auto& done : kept_) {
    if (done.record.round != header.round) {
      continue;
    }
    Header h = framed(done.ballot, Prepare{}).header;
    h.round = done.record.round;
    h.view = done.record.view.number;
    send_vector(from, h, done.vector, done.answers, have);
    Message notice = framed(done.ballot, Stale{done.record.hash, static_cast<std::uint64_t>(work_),
                                               done.record.next_view});
    notice.header.round = done.record.round + 1;
    post(from, Class::kControl, std::move(notice));
    return;
  }
  say_stale(from);
}

void GroupMean::Engine::send_vector(const PeerId& to, Header header, const VectorOfAnswers& vector,
                                    const std::map<Hash256, StoredAnswer>& answers,
                                    const std::set<Hash256>& have) {
  const bool lost = lost_to(to);
  for (const auto& hash : vector.answers) {
    const auto it = answers.find(hash);
    if (lost && it != answers.end() && !have.contains(hash)) {
      post(to, Class::kBulk, {header, it->second.answer, it->second.encoded});
    }
  }
  Control c = vector.control;
  for (const auto& hash : vector.answers) {
    c.plan.push_back({0, hash});
  }
  post(to, Class::kControl, {header, std::move(c), {}});
}

/// Everything of the open round that this member is the origin of, or holds whole.
void GroupMean::Engine::send_again(const PeerId& to, std::size_t index, std::set<Hash256> have) {
  const bool lost = lost_to(to);
  if (cur_.held) {
    send_vector(to, framed(cur_.held->ballot, Prepare{}).header, cur_.held->vector, cur_.answers,
                have);
    have.insert(cur_.held->vector.answers.begin(), cur_.held->vector.answers.end());
    const auto& votes = cur_.ballot(cur_.held->ballot).votes;
    if (const auto it = votes.find(cur_.me); it != votes.end()) {
      post(to, Class::kControl, framed(cur_.held->ballot, Hold{it->second.hash, it->second.state}));
    }
  }
  const Ballot ballot = cur_.promised;
  const auto& state = cur_.ballot(ballot);
  const bool leads = ballot.counter == 0 ? is_leader() : ballot.leader == net_.self();
  if (state.control && leads) {
    post(to, Class::kControl, framed(ballot, *state.control));
  }
  for (const auto& hash : state.issued) {
    const auto it = cur_.answers.find(hash);
    if (lost && it != cur_.answers.end() && !have.contains(hash)) {
      Message m = framed(ballot, it->second.answer);
      m.payload = it->second.encoded;
      post(to, Class::kBulk, std::move(m));
    }
  }
  for (std::size_t m = 0; m < cur_.view.size(); ++m) {
    if (cur_.left_out(m)) {
      const bool late = !cur_.refused.contains(m);
      const Refused said{0, static_cast<std::uint16_t>(m), "as another owner said", late};
      post(to, Class::kControl, framed(ballot, said));
    }
  }
  if (!lost || !cur_.own || !cur_.own->ready) {
    return;
  }
  for (std::size_t p = 0; p < cur_.parts(); ++p) {
    if (cur_.owner(ballot, p) == std::optional(index)) {
      if (!have.contains(contribution_key(p, cur_.me))) {
        cur_.own->sent.erase({p, index});
      }
    }
  }
}

}  // namespace shoal::comm
