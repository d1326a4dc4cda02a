#include "comm/round/round_state.h"

#include <algorithm>

namespace shoal::comm {
namespace {

void put_runs(ByteWriter& w, const std::vector<compress::WeightRun>& runs) {
  w.put(static_cast<std::uint64_t>(runs.size()));
  for (const auto& run : runs) {
    w.put(run.granules.begin);
    w.put(run.granules.end);
    w.put(run.weight);
  }
}

void put_view(ByteWriter& w, const View& view) {
  w.put(view.number);
  w.put(static_cast<std::uint64_t>(view.size()));
  for (const auto& m : view.members) {
    w.put_bytes(m.id.peer.key);
    w.put(m.id.session);
    w.put(m.rate);
    w.put(m.speed);
  }
  for (const auto b : view.bounds) {
    w.put(b);
  }
}

}  // namespace

Hash256 answer_hash(const Answer& answer, const Bytes& encoded) {
  ByteWriter w;
  w.put(answer.part);
  w.put(answer.granules.begin);
  w.put(answer.granules.end);
  w.put(answer.codec);
  for (const auto* members : {&answer.contributors, &answer.skipped}) {
    w.put(static_cast<std::uint64_t>(members->size()));
    for (const auto m : *members) {
      w.put(m);
    }
  }
  put_runs(w, answer.divisors);
  return Hasher().add("shoal answer").add(w.span()).add(encoded.span()).finish();
}

Hash256 contribution_key(std::size_t part, std::size_t member) {
  return Hasher().add("shoal contribution").add_u64(part).add_u64(member).finish();
}

Hash256 control_hash(const Control& control) {
  ByteWriter w;
  w.put_bytes(control.parent.span());
  put_view(w, control.next_view);
  w.put(static_cast<std::uint64_t>(control.scalars.size()));
  for (const auto s : control.scalars) {
    w.put(s);
  }
  w.put(static_cast<std::uint8_t>(control.checkpoint ? 1 : 0));
  w.put(static_cast<std::uint8_t>(control.stop ? 1 : 0));
  return Hasher().add("shoal control").add(w.span()).finish();
}

VectorOfAnswers make_vector(std::uint64_t round, const Control& control,
                            std::vector<Hash256> answers) {
  VectorOfAnswers v;
  v.control = control;
  v.control.plan.clear();
  v.control.excluded.clear();
  v.answers = std::move(answers);
  Hasher h;
  h.add("shoal round").add(control.parent.span()).add_u64(round);
  h.add(control_hash(control).span());
  for (const auto& a : v.answers) {
    h.add(a.span());
  }
  v.hash = h.finish();
  return v;
}

bool OwnContribution::empty(Range granules) const {
  return std::all_of(weights.begin(), weights.end(), [&](const compress::WeightRun& run) {
    const bool outside = run.granules.end <= granules.begin || granules.end <= run.granules.begin;
    return outside || run.weight == 0;
  });
}

BallotState& RoundState::ballot(const Ballot& b) {
  auto& state = ballots[b];
  state.issued.resize(parts());
  return state;
}

BallotState* RoundState::ballot_of(std::size_t member, const Ballot& b) {
  if (!ballots.contains(b) && ++brought[member] > limits::kBallotsBrought) {
    return nullptr;
  }
  return &ballot(b);
}

std::optional<std::size_t> RoundState::owner(const Ballot& b, std::size_t part) const {
  if (empty_part(part)) {
    return std::nullopt;
  }
  if (b.counter == 0) {
    return part;
  }
  const auto it = ballots.find(b);
  if (it == ballots.end() || !it->second.control || part >= it->second.control->plan.size()) {
    return std::nullopt;
  }
  const auto& plan = it->second.control->plan[part];
  return plan.reuse.is_zero() ? std::optional<std::size_t>(plan.owner) : std::nullopt;
}

std::optional<std::size_t> RoundState::issuer(std::size_t part, const Hash256& answer) const {
  for (const auto& [b, state] : ballots) {
    const auto reducer = owner(b, part);
    if (reducer && state.issued.size() > part && state.issued[part] == answer) {
      return reducer;
    }
  }
  return std::nullopt;
}

bool RoundState::complete(const Ballot& b) const {
  const auto it = ballots.find(b);
  if (it == ballots.end() || !it->second.control) {
    return false;
  }
  for (std::size_t p = 0; p < parts(); ++p) {
    if (!empty_part(p) && !answers.contains(it->second.issued[p])) {
      return false;
    }
  }
  return true;
}

bool RoundState::leaves_refused_out(const Ballot& b) const {
  const auto it = ballots.find(b);
  const bool known = it != ballots.end() && it->second.control;
  for (std::size_t m = 0; m < view.size(); ++m) {
    if (left_out(m) && !(known && std::binary_search(it->second.control->excluded.begin(),
                                                     it->second.control->excluded.end(), m))) {
      return false;
    }
  }
  return true;
}

VectorOfAnswers RoundState::vector(const Ballot& b) const {
  const auto& state = ballots.at(b);
  return make_vector(round, *state.control, state.issued);
}

std::optional<Hash256> RoundState::chosen() const {
  for (const auto& [b, state] : ballots) {
    std::map<Hash256, std::size_t> count;
    for (const auto& [member, vote] : state.votes) {
      if (++count[vote.hash] >= view.majority()) {
        return vote.hash;
      }
    }
  }
  return std::nullopt;
}

}  // namespace shoal::comm
