#include <algorithm>

#include "comm/round/engine.h"

namespace shoal::comm {

namespace {

bool in_part(const RoundRecord& record, std::size_t part, std::size_t member) {
  const auto& c = record.contributors[part];
  return std::find(c.begin(), c.end(), static_cast<std::uint16_t>(member)) != c.end();
}

}  // namespace

void GroupMean::Engine::record_vote(std::size_t from, const Ballot& ballot, const Hold& vote) {
  if (auto* const state = cur_.ballot_of(from, ballot)) {
    state->votes.try_emplace(from, Vote{vote.hash, vote.state});
  } else {
    net_.count("too-many-ballots");
  }
}

bool GroupMean::Engine::consider_commit() {
  if (!cur_.decided) {
    cur_.decided = cur_.chosen();
  }
  if (!cur_.decided) {
    return false;
  }
  if (cur_.held && cur_.held->vector.hash == *cur_.decided) {
    commit(cur_.held->ballot, cur_.held->vector);
    return true;
  }
  for (const auto& [ballot, state] : cur_.ballots) {
    if (cur_.complete(ballot)) {
      const auto vector = cur_.vector(ballot);
      if (vector.hash == *cur_.decided) {
        commit(ballot, vector);
        return true;
      }
    }
  }
  return false;  // decided without us: on_tick() fetches what is missing
}

void GroupMean::Engine::commit(const Ballot& ballot, const VectorOfAnswers& vector) {
  Committed done;
  done.record = record_of(cur_, vector, cur_.answers);
  done.ballot = ballot;
  done.vector = vector;
  for (const auto& hash : vector.answers) {
    if (const auto it = cur_.answers.find(hash); it != cur_.answers.end()) {
      done.answers.insert(*it);
    }
  }
  for (const auto& [b, state] : cur_.ballots) {
    for (const auto& [member, vote] : state.votes) {
      if (vote.hash == vector.hash) {
        done.votes.try_emplace(member, vote);
      }
    }
  }
  done.codec_state = cur_.codec_state;
  if (cur_.decoded_hash == vector.hash) {
    done.decoded = cur_.decoded;
  }
  if (cur_.active_since != kNever) {
    round_deadline_.observe(loop_.now() - cur_.active_since);
  }
  if (cur_.own) {
    settle_own(*cur_.own, done.record, cur_.me, cur_.refused.contains(cur_.me));
  }
  settle_residual(done);
  report_lost(done);
  if (done.votes.try_emplace(cur_.me, Vote{vector.hash, {}}).second) {
    // Decided without us; the others still want to know that we hold it.
    broadcast(Class::kControl, framed(ballot, Hold{vector.hash, {}}));
  }
  open_next(done, state_after_commit(vector));
}

/// The next round's state of the answers' codec; null, too, when the answers, which others decided,
/// can't be read here.
CodecState GroupMean::Engine::state_after_commit(const VectorOfAnswers& vector) const {
  if (cur_.decoded && cur_.decoded_hash == vector.hash) {
    return cur_.codec_state_after;
  }
  auto next =
      state_after(cur_.codec_state, answer_codec_.first()->properties().wire_id,
                  answer_context(cur_.round, cur_.codec_state), vector.answers, cur_.answers);
  return next.ok() ? std::move(next).value() : nullptr;
}

void GroupMean::Engine::open_next(const Committed& done, const CodecState& next_state) {
  const bool differs = returned_ == done.record.round && returned_hash_ != done.record.hash;
  double work = 0;
  for (const auto& run : divisors_of(done.vector, done.answers)) {
    work = std::max(work, run.weight);
  }
  work_ += work;
  ++stats_.rounds;
  committed_ = done.record.round;
  end_ = {done.record.stop, done.record.owed()};
  records_.push_back(done.record);
  kept_.push_back(done);
  while (kept_.size() > limits::kRoundsKept) {
    kept_.pop_front();
  }
  while (records_.size() > limits::kRecordsKept) {
    records_.pop_front();
  }
  for (const auto& m : done.record.next_view.members) {
    const auto wish = wishes_.find(m.id.peer);
    if (wish != wishes_.end() && wish->second.id == m.id) {
      wishes_.erase(wish);
    }
  }
  const View next = done.record.next_view;
  std::erase_if(leaving_, [&](const MemberId& id) {
    return !next.index_of(id) && !done.record.view.index_of(id);
  });
  const bool unreadable = done.codec_state && !next_state;
  open(committed_ + 1, next, done.record.hash, unreadable ? done.codec_state : next_state);
  drop_past_sends();
  host_.committed(kept_.back().record);
  compare_states(kept_.back());
  if (!next.index_of(self())) {
    need_state("the group went on without this peer", true);
  } else if (differs || unreadable) {
    need_state(differs ? "the round this peer had applied did not stand"
                       : "the group's answers can't be read with this peer's state of their codec",
               false);
  }
  if (member_) {
    drain_ahead();
  }
  serve_state();
}

void GroupMean::Engine::settle_own(const OwnContribution& own, const RoundRecord& record,
                                   std::size_t me, bool refused) {
  if (me >= record.view.size()) {
    return;
  }
  bool dropped = false;
  for (std::size_t p = 0; p < record.view.size(); ++p) {
    const Range part = record.view.part(p);
    if (part.empty() || own.empty(part)) {
      continue;  // nothing was said of it
    }
    const auto s =
        std::span<const float>(*own.sum).subspan(static_cast<std::size_t>(part.begin * kGranule),
                                                 static_cast<std::size_t>(part.size() * kGranule));
    if (in_part(record, p, me)) {
      settle_included(own, sender_context(record.round, me), p, part, s);
    } else if (refused) {
      // What the group's guard refused would be refused for ever: it is dropped, and said.
      carry_.drop(part);
      dropped = true;
    } else {
      if (own.weight > 0) {
        carry_.settle_left_out(part, s, own.weight);
      }
      ++stats_.left_out;
    }
  }
  if (dropped) {
    ++stats_.dropped;
    note_loss("round " + std::to_string(record.round) +
              ": this peer's contribution was refused and dropped");
  }
}

/// The carry of granules that had no weight was not sent: it stays.
void GroupMean::Engine::settle_included(const OwnContribution& own,
                                        const compress::CodecContext& context, std::size_t part,
                                        Range granules, std::span<const float> s) {
  std::vector<std::pair<Range, std::vector<float>>> unsent;
  for (const auto& run : own.weights) {
    const Range cut{std::max(run.granules.begin, granules.begin),
                    std::min(run.granules.end, granules.end)};
    if (run.weight == 0 && cut.begin < cut.end) {
      const auto values = carry_.values().subspan(static_cast<std::size_t>(cut.begin * kGranule),
                                                  static_cast<std::size_t>(cut.size() * kGranule));
      unsent.emplace_back(cut, std::vector<float>(values.begin(), values.end()));
    }
  }
  const auto status = carry_.settle_included(*own.codecs[part], context, granules, s, own.weight,
                                             own.encoded[part].span());
  SHOAL_CHECK(status.ok(), "a codec decodes what it encoded");
  for (const auto& [cut, values] : unsent) {
    carry_.settle_left_out(cut, values, 0);
  }
}

void GroupMean::Engine::settle_residual(const Committed& done) {
  for (std::size_t p = 0; p < done.record.view.size(); ++p) {
    const auto it = cur_.reduced_here.find(done.vector.answers[p]);
    if (it == cur_.reduced_here.end()) {
      continue;
    }
    const Range part = done.record.view.part(p);
    const auto& residual = it->second.residual;
    std::copy(residual.begin(), residual.end(),
              residual_.begin() + static_cast<std::ptrdiff_t>(part.begin * kGranule));
    if (p == cur_.me) {
      norms_.accept(part, it->second.norms, options_.guard);
    }
  }
  if (!answer_codec_.lossless()) {
    fold_residual(done);
  }
}

/// What this member owes as an owner of granules that the next view gives to another moves into
/// its carry, in units of the weighted sum: nothing has to be handed over.
void GroupMean::Engine::fold_residual(const Committed& done) {
  const auto& next = done.record.next_view;
  const auto me = next.index_of(self());
  const Range mine = me ? next.part(*me) : Range{};
  for (const auto& run : divisors_of(done.vector, done.answers)) {
    for (std::uint64_t g = run.granules.begin; g < run.granules.end; ++g) {
      if (mine.begin <= g && g < mine.end) {
        continue;
      }
      const auto values = std::span(residual_).subspan(static_cast<std::size_t>(g * kGranule),
                                                       static_cast<std::size_t>(kGranule));
      if (std::any_of(values.begin(), values.end(), [](float v) { return v != 0; })) {
        carry_.add({g, g + 1}, static_cast<float>(run.weight), values);
        std::fill(values.begin(), values.end(), 0.0F);
      }
    }
  }
}

void GroupMean::Engine::report_lost(const Committed& done) {
  const auto& view = done.record.view;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto& id = view.members[i].id;
    if (done.record.next_view.index_of(id) || id == self()) {
      continue;
    }
    std::string sentence = "round " + std::to_string(done.record.round) + ": " +
                           id.peer.short_id() + " left the view; its carry is lost";
    if (!answer_codec_.lossless() && !view.part(i).empty()) {
      sentence += ", and the answers' residual of granules " + std::to_string(view.part(i).begin) +
                  " to " + std::to_string(view.part(i).end);
    }
    log_.warning(sentence);
    note_loss(std::move(sentence));
  }
}

void GroupMean::Engine::note_loss(std::string sentence) {
  auto& all = stats_.residuals_lost;
  if (all.size() >= limits::kLossesKept) {
    all.erase(all.begin());
  }
  all.push_back(std::move(sentence));
}

/// Every tenth round the votes carry the hash of the state; the smaller side fetches the larger
/// side's (the side of the first member, when they are equal).
void GroupMean::Engine::compare_states(const Committed& done) {
  const auto me = done.record.view.index_of(self());
  if (!me || state_needed_) {
    return;
  }
  std::map<Hash256, std::pair<std::size_t, std::size_t>> sides;  // hash -> (count, -first member)
  for (std::size_t i = 0; i < done.record.view.size(); ++i) {
    const auto it = done.votes.find(i);
    if (it == done.votes.end()) {
      if (net_.alive(done.record.view.members[i].id.peer)) {
        return;  // wait for its vote
      }
      continue;
    }
    if (!it->second.state.is_zero()) {
      auto& side =
          sides.try_emplace(it->second.state, 0, done.record.view.size() - i).first->second;
      ++side.first;
    }
  }
  const auto mine = done.votes.find(*me);
  if (sides.size() < 2 || mine == done.votes.end() || mine->second.state.is_zero()) {
    return;
  }
  const auto largest = std::max_element(
      sides.begin(), sides.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest->first != mine->second.state) {
    need_state("this peer's state differs from the group's", false);
  }
}

/// Too few are left to decide anything: the rest of the run is a new branch, with this member
/// alone. A vector that is held stands there as it is.
void GroupMean::Engine::go_alone() {
  ++stats_.forks;
  View solo;
  solo.number = cur_.view.number + 1;
  solo.members = {cur_.view.members[cur_.me]};
  solo.bounds = {0, map_.granule_count()};
  branch_ = random_branch();
  log_.warning("too few members of round " + std::to_string(cur_.round) +
               " are left; this peer goes on alone on a new branch");
  minority_since_ = kNever;
  if (cur_.held) {
    const Hash256 before = cur_.held->vector.hash;
    auto vector = cur_.held->vector;
    vector.control.next_view = solo;
    vector = make_vector(cur_.round, vector.control, vector.answers);
    if (returned_ == cur_.round && returned_hash_ == before) {
      returned_hash_ = vector.hash;
    }
    if (cur_.decoded_hash == before) {
      cur_.decoded_hash = vector.hash;
    }
    commit(cur_.held->ballot, vector);
  } else {
    auto own = std::move(cur_.own);
    open(cur_.round, solo, cur_.parent, cur_.codec_state);
    if (own) {
      own->sent.clear();
      own->ready = false;
      cur_.own = std::move(own);
      run(encode_own(epoch_));
      touch();
    }
  }
  advance();
}

}  // namespace shoal::comm
