#include <algorithm>

#include "comm/round/engine.h"

namespace shoal::comm {
namespace {

/// The word to count a refusal by; what a peer says beside it is only shown.
std::string refusal_word(const std::string& reason) {
  for (const char* word :
       {"not-finite", "bad-encoding", "absurd-norm", "zero-weight", "overflow", "bad-answer"}) {
    if (reason.rfind(word, 0) == 0) {
      return word;
    }
  }
  return "other";
}

/// Whether no codec of ours encodes granules in so many bytes.
bool too_long(Range granules, const Bytes& encoded) {
  return encoded.size() > granules.size() * kGranule * limits::kElementBytesMax;
}

}  // namespace

void GroupMean::Engine::record_contribution(std::size_t from, const Message& message) {
  const auto& c = std::get<Contribution>(message.body);
  const auto& peer = cur_.view.members[from].id.peer;
  if (c.parent != cur_.parent) {
    net_.count("other-parent");  // it computed on a round that did not stand; it will repair itself
    return;
  }
  if (c.part >= cur_.parts() || c.granules != cur_.view.part(c.part) || c.granules.empty() ||
      too_long(c.granules, message.payload)) {
    net_.penalise(peer, "wrong-part");
    return;
  }
  auto& stored = cur_.contributions[c.part];
  if (stored.contains(from)) {
    return;
  }
  progress_ = loop_.now();
  stored[from] = {c.skip, {static_cast<std::uint16_t>(from), c.codec, c.weights, message.payload}};
  if (cur_.first_contribution == kNever) {
    cur_.first_contribution = loop_.now();
  }
}

void GroupMean::Engine::record_answer(std::size_t from, const Message& message) {
  const auto& a = std::get<Answer>(message.body);
  const auto& peer = cur_.view.members[from].id.peer;
  const Ballot& b = message.header.ballot;
  const auto inside = [&](std::uint16_t m) { return m < cur_.view.size(); };
  const bool fits = a.part < cur_.parts() && a.granules == cur_.view.part(a.part) &&
                    !a.granules.empty() && !too_long(a.granules, message.payload) &&
                    std::all_of(a.contributors.begin(), a.contributors.end(), inside) &&
                    std::all_of(a.skipped.begin(), a.skipped.end(), inside);
  if (!fits) {
    net_.penalise(peer, "wrong-part");
    return;
  }
  const Hash256 hash = answer_hash(a, message.payload);
  if (cur_.owner(b, a.part) == std::optional(from)) {
    auto& issued = cur_.ballot(b).issued[a.part];
    if (!issued.is_zero() && issued != hash) {
      net_.penalise(peer, "two-answers");
      return;
    }
    issued = hash;
  } else if (!cur_.answers.contains(hash) && ++cur_.passed_on[from] > 2 * cur_.parts()) {
    net_.count("too-many-answers");  // of those it holds, it passes on one a part
    return;
  }
  // What is not its sender's was passed on by who holds it: a control says where it belongs.
  if (cur_.answers.try_emplace(hash, StoredAnswer{a, message.payload}).second) {
    progress_ = loop_.now();
  }
}

void GroupMean::Engine::record_refused(std::size_t from, const Refused& refused) {
  if (refused.member >= cur_.view.size()) {
    net_.penalise(cur_.view.members[from].id.peer, "wrong-member");
    return;
  }
  if (refused.late) {
    if (cur_.late.insert(refused.member).second) {
      log_.info("round " + std::to_string(cur_.round) + ": the contribution of " +
                cur_.view.members[refused.member].id.peer.short_id() +
                " is late and comes in a later round");
    }
  } else if (cur_.refused.insert(refused.member).second) {
    log_.warning("round " + std::to_string(cur_.round) + ": the contribution of " +
                 cur_.view.members[refused.member].id.peer.short_id() +
                 " is refused: " + refused.reason);
    ++stats_.refused[refusal_word(refused.reason)];
  }
}

void GroupMean::Engine::send_contributions() {
  if (!cur_.own || !cur_.own->ready) {
    return;
  }
  for (std::size_t k = 0; k < cur_.parts(); ++k) {
    const std::size_t part = (cur_.me + k) % cur_.parts();
    // Under ballot 0 and under every plan since: an owner may need our copy again.
    const Ballot& ballot = cur_.promised;
    if (const auto owner = cur_.owner(ballot, part)) {
      send_part(part, *owner);
    }
  }
}

void GroupMean::Engine::send_part(std::size_t part, std::size_t owner) {
  auto& own = *cur_.own;
  if (!own.sent.insert({part, owner}).second) {
    return;
  }
  Contribution c;
  c.part = static_cast<std::uint32_t>(part);
  c.granules = cur_.view.part(part);
  c.parent = cur_.parent;
  c.skip = own.empty(c.granules);
  if (!c.skip) {
    c.codec = own.codecs[part]->properties().wire_id;
    for (const auto& run : own.weights) {
      const Range cut{std::max(run.granules.begin, c.granules.begin),
                      std::min(run.granules.end, c.granules.end)};
      if (!cut.empty()) {
        c.weights.push_back({cut, run.weight});
      }
    }
  } else {
    c.weights.push_back({c.granules, 0});
  }
  const bool skip = c.skip;
  Message m = framed(Ballot{}, std::move(c));
  if (!skip) {
    m.payload = own.encoded[part];
  }
  if (owner == cur_.me) {
    record_contribution(cur_.me, m);
  } else {
    post(cur_.view.members[owner].id.peer, Class::kBulk, std::move(m));
  }
}

/// Members whose contributions a part waits for under the ballot.
std::vector<std::size_t> GroupMean::Engine::missing(const Ballot& ballot, std::size_t part) const {
  std::vector<std::uint16_t> excluded;
  if (const auto it = cur_.ballots.find(ballot); it != cur_.ballots.end() && it->second.control) {
    excluded = it->second.control->excluded;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < cur_.view.size(); ++i) {
    if (!cur_.contributions.at(part).contains(i) &&
        std::find(excluded.begin(), excluded.end(), i) == excluded.end()) {
      out.push_back(i);
    }
  }
  return out;
}

bool GroupMean::Engine::waited_enough(const Ballot& ballot) const {
  TimePoint deadline = cur_.first_contribution + contribution_deadline_.value();
  if (const auto it = cur_.ballots.find(ballot); it != cur_.ballots.end() && it->second.control) {
    // Parts that moved to another owner are on their way once more.
    deadline = std::max(deadline, it->second.since + limits::kDeadlineMin);
  }
  return !options_.reproducible && loop_.now() >= deadline;
}

/// Where contributions are atomic, an owner leaves nobody out by itself: it says for whom it can't
/// wait, and the next ballot leaves that member out of all parts.
bool GroupMean::Engine::reduce_ready(const Ballot& ballot, std::size_t part) {
  const auto it = cur_.contributions.find(part);
  if (it == cur_.contributions.end() || it->second.empty()) {
    return false;
  }
  if (!cur_.leaves_refused_out(ballot)) {
    return false;  // a refusal holds for all parts: only the next ballot can keep to it
  }
  const auto waits_for = missing(ballot, part);
  const bool late = waited_enough(ballot);
  if (!options_.atomic) {
    return late || std::none_of(waits_for.begin(), waits_for.end(),
                                [&](std::size_t i) { return usable(i); });
  }
  if (late && !waits_for.empty()) {
    std::vector<RefusedInput> said;
    for (const auto i : waits_for) {
      said.push_back({static_cast<std::uint16_t>(i), "late", "not here in time"});
    }
    contribution_deadline_.missed();
    refuse(ballot, part, said, true);
  }
  return waits_for.empty();
}

void GroupMean::Engine::consider_reduce() {
  const Ballot ballot = cur_.promised;
  for (std::size_t part = 0; part < cur_.parts(); ++part) {
    if (cur_.owner(ballot, part) != std::optional(cur_.me)) {
      continue;
    }
    auto& state = cur_.ballot(ballot);
    if (!state.issued[part].is_zero() || state.reducing.contains(part) ||
        !reduce_ready(ballot, part)) {
      continue;
    }
    state.reducing.insert(part);
    const auto& in = cur_.contributions[part];
    if (in.size() == cur_.view.size()) {
      contribution_deadline_.observe(loop_.now() - cur_.first_contribution);
    } else {
      contribution_deadline_.missed();
    }
    run(reduce(epoch_, ballot, part));
  }
}

ReduceTask GroupMean::Engine::reduce_task(const Ballot& ballot, std::size_t part) {
  ReduceTask task;
  task.map = &map_;
  task.granules = cur_.view.part(part);
  task.answer_codec = pick_answer_codec(part);
  task.context = answer_context(cur_.round, cur_.codec_state);
  if (options_.guard.enabled) {
    task.norm_bound = norms_.bound(task.granules, options_.guard);
  }
  const auto begin = static_cast<std::size_t>(task.granules.begin * kGranule);
  const auto count = static_cast<std::size_t>(task.granules.size() * kGranule);
  const auto residual = std::span(residual_).subspan(begin, count);
  task.residual.assign(residual.begin(), residual.end());
  std::vector<std::uint16_t> excluded;
  if (const auto it = cur_.ballots.find(ballot); it->second.control) {
    excluded = it->second.control->excluded;
  }
  for (const auto& [member, stored] : cur_.contributions.at(part)) {
    if (std::find(excluded.begin(), excluded.end(), member) != excluded.end()) {
      continue;
    }
    if (stored.skip) {
      task.skipped.push_back(static_cast<std::uint16_t>(member));
    } else {
      task.inputs.push_back(stored.input);
    }
  }
  return task;
}

Task<void> GroupMean::Engine::reduce(std::uint64_t epoch, Ballot ballot, std::size_t part) {
  if (epoch != epoch_) {
    co_return;
  }
  auto task = reduce_task(ballot, part);
  const Duration cost = reduce_cost(task);
  auto reduce_it = [task = std::move(task), map = shared_map_, state = cur_.codec_state] {
    return reduce_part(task);
  };
  auto reduced = co_await loop_.offload(Offload::kCodec, reduce_it, cost);
  if (epoch != epoch_) {
    co_return;
  }
  cur_.ballot(ballot).reducing.erase(part);
  if (ballot < cur_.promised) {
    co_return;  // we promised a later leader to say nothing more under this ballot
  }
  if (!cur_.leaves_refused_out(ballot)) {
    advance();
    co_return;  // somebody refused meanwhile: what is reduced here can't be used
  }
  if (reduced.refused.empty()) {
    issue(ballot, part, std::move(reduced));
  } else {
    refuse(ballot, part, reduced.refused, false);
  }
  advance();
}

void GroupMean::Engine::issue(const Ballot& ballot, std::size_t part, Reduced reduced) {
  Answer a;
  a.part = static_cast<std::uint32_t>(part);
  a.granules = cur_.view.part(part);
  a.codec = reduced.codec;
  a.contributors = std::move(reduced.contributors);
  a.divisors = std::move(reduced.divisors);
  a.skipped = std::move(reduced.skipped);
  const Hash256 hash = answer_hash(a, reduced.encoded);
  cur_.reduced_here[hash] = {std::move(reduced.residual_after), std::move(reduced.norms)};
  Message m = framed(ballot, std::move(a));
  m.payload = std::move(reduced.encoded);
  record_answer(cur_.me, m);
  broadcast(Class::kBulk, m);
}

void GroupMean::Engine::refuse(const Ballot& ballot, std::size_t part,
                               const std::vector<RefusedInput>& refused, bool late) {
  for (const auto& r : refused) {
    const Refused said{static_cast<std::uint32_t>(part), r.member,
                       r.reason + " (" + r.sentence.substr(0, limits::kReasonBytesMax / 2) + ")",
                       late};
    record_refused(cur_.me, said);
    broadcast(Class::kControl, framed(ballot, said));
  }
}

bool GroupMean::Engine::consider_hold() {
  // The highest ballot whose answers are all here, if nothing forbids it.
  for (auto it = cur_.ballots.rbegin(); it != cur_.ballots.rend(); ++it) {
    const Ballot ballot = it->first;
    if (ballot < cur_.promised || (cur_.held && cur_.held->ballot >= ballot)) {
      return false;
    }
    if (!cur_.complete(ballot)) {
      continue;
    }
    const auto vector = cur_.vector(ballot);
    if (cur_.decoded_hash == vector.hash && cur_.decoded) {
      hold(ballot, vector);
      return true;
    }
    if (!cur_.decoding) {
      cur_.decoding = true;
      run(decode_then_hold(epoch_, vector));
    }
    return false;
  }
  return false;
}

Task<void> GroupMean::Engine::decode_then_hold(std::uint64_t epoch, VectorOfAnswers vector) {
  if (epoch != epoch_) {
    co_return;
  }
  const CodecState state = cur_.codec_state;
  auto decoded = co_await decode(vector, cur_.answers, cur_.round, state);
  if (epoch != epoch_) {
    co_return;
  }
  cur_.decoding = false;
  if (state != cur_.codec_state) {
    advance();
    co_return;  // read with a state that the group's has replaced meanwhile
  }
  if (decoded.values) {
    cur_.decoded = decoded.values;
    cur_.codec_state_after = decoded.codec_state_after;
    cur_.decoded_hash = vector.hash;
  } else {
    // An owner's bytes do not decode: the ballot can't complete, and the next one leaves it out.
    for (std::size_t p = 0; p < cur_.parts(); ++p) {
      const auto it = cur_.answers.find(vector.answers[p]);
      if (it == cur_.answers.end()) {
        continue;
      }
      std::vector<float> scratch(static_cast<std::size_t>(cur_.view.part(p).size() * kGranule));
      const auto status =
          decode_answer(map_, it->second.answer, answer_context(cur_.round, cur_.codec_state),
                        it->second.encoded, scratch);
      if (status.ok()) {
        continue;
      }
      if (const auto culprit = cur_.issuer(p, vector.answers[p])) {
        net_.penalise(cur_.view.members[*culprit].id.peer, "bad-answer");
        record_refused(cur_.me,
                       {static_cast<std::uint32_t>(p), static_cast<std::uint16_t>(*culprit),
                        "bad-answer (" + status.error().message + ")"});
      }
      cur_.answers.erase(it);
    }
  }
  advance();
}

void GroupMean::Engine::hold(const Ballot& ballot, const VectorOfAnswers& vector) {
  cur_.promised = std::max(cur_.promised, ballot);
  cur_.held = Held{ballot, vector};
  Hold vote{vector.hash, {}};
  if ((cur_.round - 1) % 10 == 0 && host_.applied_round() + 1 == cur_.round) {
    vote.state = state_hash().value_or(Hash256{});
  }
  record_vote(cur_.me, ballot, vote);
  broadcast(Class::kControl, framed(ballot, vote));
}

}  // namespace shoal::comm
