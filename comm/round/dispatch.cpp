#include <algorithm>

#include "comm/round/engine.h"

namespace shoal::comm {

void GroupMean::Engine::on_message(const PeerId& from, const Message& message) {
  if (closed_) {
    return;
  }
  const auto& h = message.header;
  if (const auto* join = std::get_if<Join>(&message.body)) {
    on_join(from, h, *join);
  } else if (const auto* stale = std::get_if<Stale>(&message.body)) {
    on_stale(from, h, *stale);
  } else if (const auto* fetch = std::get_if<Fetch>(&message.body)) {
    on_fetch(from, h, *fetch);
  } else if (const auto* request = std::get_if<StateRequest>(&message.body)) {
    on_state_request(from, h, *request);
  } else if (const auto* reply = std::get_if<StateReply>(&message.body)) {
    on_state_reply(from, message, *reply);
  } else if (std::holds_alternative<Bye>(message.body)) {
    leaving_.insert({from, h.session});
  } else {
    on_round_message(from, message);
  }
  advance();
}

void GroupMean::Engine::on_alive(const PeerId& peer, bool alive) {
  if (!alive) {
    wishes_.erase(peer);
    state_waiters_.erase(peer);
    served_.erase(peer);
    stale_said_.erase(peer);
  } else if (member_ && !cur_.view.index_of(peer)) {
    say_stale(peer);  // two branches of the run meet when somebody speaks first
  }
  advance();
}

void GroupMean::Engine::on_round_message(const PeerId& from, const Message& message) {
  const auto& h = message.header;
  if (!member_) {
    net_.count("not-a-member-yet");
    return;
  }
  if (h.branch != branch_) {
    net_.count("other-branch");
    say_stale(from);
    return;
  }
  if (h.round <= committed_) {
    const auto* vote = std::get_if<Hold>(&message.body);
    if (vote != nullptr && !kept_.empty() && kept_.back().record.round == h.round) {
      if (const auto i = kept_.back().record.view.index_of(MemberId{from, h.session})) {
        kept_.back().votes.try_emplace(*i, Vote{vote->hash, vote->state});
        compare_states(kept_.back());
      }
      return;  // a late vote of a round that a majority has decided: nobody is behind
    }
    net_.count("stale-round");
    say_stale(from);
    return;
  }
  if (h.round == cur_.round) {
    const auto index = cur_.view.index_of(MemberId{from, h.session});
    if (!index || h.view != cur_.view.number) {
      net_.count("stale-view");
      say_stale(from);
      return;
    }
    record(*index, message);
    return;
  }
  if (h.round > cur_.round + limits::kRoundsAhead) {
    behind(from, h.round, nullptr);
    return;
  }
  keep_ahead(from, message);
}

/// What an honest peer sends in the rounds that we may be behind is few and no longer than that
/// many models; the rest is dropped, and asked for when its round is open here.
void GroupMean::Engine::keep_ahead(const PeerId& from, const Message& message) {
  std::size_t count = 1;
  std::uint64_t bytes = message.payload.size();
  for (const auto& [sender, kept] : ahead_) {
    if (sender == from) {
      ++count;
      bytes += kept.payload.size();
    }
  }
  const std::uint64_t model = map_.flat_size() * limits::kElementBytesMax;
  if (count > limits::kAheadMax || bytes > limits::kRoundsAhead * model) {
    net_.count("ahead-full");
    return;
  }
  ahead_.emplace_back(from, message);
}

void GroupMean::Engine::record(std::size_t from, const Message& message) {
  const auto& h = message.header;
  cur_.counter_seen = std::max(cur_.counter_seen, h.ballot.counter);
  served_.erase(cur_.view.members[from].id.peer);  // who takes part has its state
  touch();
  if (std::holds_alternative<Contribution>(message.body)) {
    record_contribution(from, message);
  } else if (std::holds_alternative<Answer>(message.body)) {
    record_answer(from, message);
  } else if (const auto* control = std::get_if<Control>(&message.body)) {
    record_control(from, h.ballot, *control);
  } else if (const auto* vote = std::get_if<Hold>(&message.body)) {
    record_vote(from, h.ballot, *vote);
  } else if (std::holds_alternative<Prepare>(message.body)) {
    record_prepare(from, h.ballot);
  } else if (const auto* promise = std::get_if<Promise>(&message.body)) {
    record_promise(from, h.ballot, *promise);
  } else if (const auto* refused = std::get_if<Refused>(&message.body)) {
    record_refused(from, *refused);
  }
}

void GroupMean::Engine::drain_ahead() {
  auto waiting = std::move(ahead_);
  ahead_.clear();
  for (const auto& [from, message] : waiting) {
    if (message.header.branch == branch_ && message.header.round >= cur_.round) {
      on_round_message(from, message);
    }
  }
}

void GroupMean::Engine::touch() {
  if (cur_.active_since == kNever) {
    cur_.active_since = loop_.now();
    nudge_at_ = loop_.now() + cur_.nudge_after;
  }
  wake_later();
}

Message GroupMean::Engine::framed(const Ballot& ballot, Body body) const {
  Message m;
  m.header.branch = branch_;
  m.header.view = cur_.view.number;
  m.header.ballot = ballot;
  m.header.round = cur_.round;
  m.body = std::move(body);
  return m;
}

void GroupMean::Engine::broadcast(Class cls, const Message& message) {
  // Everybody starts with another receiver, so that no downlink gets all first frames at once.
  for (std::size_t k = 1; k < cur_.view.size(); ++k) {
    const std::size_t i = (cur_.me + k) % cur_.view.size();
    post(cur_.view.members[i].id.peer, cls, message);
  }
}

void GroupMean::Engine::post(const PeerId& to, Class cls, Message message) {
  const bool queued = std::any_of(pending_.begin(), pending_.end(),
                                  [&](const PendingSend& p) { return p.to == to && p.cls == cls; });
  if (!queued && net_.send(to, cls, message) != SendResult::kFull) {
    return;
  }
  if (pending_.size() >= limits::kControlQueueMax) {
    net_.count("send-queue-full");  // a fetch will ask for it again
    return;
  }
  pending_.push_back({to, cls, std::move(message)});
  wake_later();
}

/// What nobody can use any more does not wait for a slow link.
void GroupMean::Engine::drop_past_sends() {
  std::erase_if(pending_, [this](const PendingSend& p) {
    const std::uint64_t round = p.message.header.round;
    return std::holds_alternative<Contribution>(p.message.body) ? round <= committed_
           : std::holds_alternative<Answer>(p.message.body)
               ? round + limits::kRoundsKept <= committed_
               : false;
  });
}

void GroupMean::Engine::flush() {
  std::deque<PendingSend> left;
  std::set<std::pair<PeerId, Class>> full;
  for (auto& p : pending_) {
    if (full.contains({p.to, p.cls}) || net_.send(p.to, p.cls, p.message) == SendResult::kFull) {
      full.insert({p.to, p.cls});
      left.push_back(std::move(p));
    }
  }
  pending_ = std::move(left);
}

void GroupMean::Engine::advance() {
  if (advancing_ || closed_) {
    return;
  }
  advancing_ = true;
  bool again = member_;
  while (again && !closed_ && member_) {
    again = consider_commit();
    if (again || !member_) {
      continue;
    }
    consider_control();
    send_contributions();
    consider_reduce();
    consider_propose();
    again = consider_hold();
  }
  flush();
  advancing_ = false;
  wake_later();
  changed_.notify();
}

void GroupMean::Engine::wake_later() {
  if (timer_ || closed_ || !active()) {
    return;
  }
  // One slow tick looks at all deadlines; they are seconds long.
  timer_ = loop_.add_timer(loop_.now() + std::chrono::milliseconds(pending_.empty() ? 100 : 5),
                           [this, lives = lives_] {
                             if (*lives) {
                               timer_.reset();
                               on_tick();
                             }
                           });
}

}  // namespace shoal::comm
