#include <algorithm>

#include "comm/round/engine.h"

namespace shoal::comm {

bool GroupMean::Engine::is_leader() const { return cur_.me == 0; }

bool GroupMean::Engine::fits_model(const View& view) const {
  return !view.members.empty() && view.size() <= limits::kMembersMax &&
         bounds_fit(view, map_.granule_count(), may_cut_);
}

/// Ballot 0: the first member says, once the round is under way, what is decided beside the parts.
void GroupMean::Engine::consider_control() {
  if (!is_leader() || cur_.promised.counter > 0 || cur_.active_since == kNever ||
      cur_.ballot(Ballot{}).control) {
    return;
  }
  Control c = free_control(usable_members());
  accept_control(Ballot{}, c);
  broadcast(Class::kControl, framed(Ballot{}, std::move(c)));
}

Control GroupMean::Engine::free_control(const std::set<std::size_t>& staying) {
  auto input = host_.control(cur_.round);
  Control c;
  c.parent = cur_.parent;
  c.next_view = next_view(staying);
  c.scalars = std::move(input.scalars);
  c.checkpoint = input.checkpoint;
  c.stop = input.stop;
  return c;
}

View GroupMean::Engine::next_view(const std::set<std::size_t>& staying) const {
  View next;
  for (std::size_t i = 0; i < cur_.view.size(); ++i) {
    const auto& member = cur_.view.members[i];
    const auto wish = wishes_.find(member.id.peer);
    const bool reborn = wish != wishes_.end() && wish->second.id != member.id;
    if (staying.contains(i) && !leaving_.contains(member.id) && !reborn) {
      next.members.push_back(member);
    }
  }
  for (const auto& [peer, wish] : wishes_) {
    const bool fresh = net_.alive(peer) && net_.session_of(peer) == wish.id.session;
    if (fresh && next.size() < limits::kMembersMax && !next.index_of(wish.id)) {
      next.members.push_back(wish);
    }
  }
  if (next.members == cur_.view.members) {
    return cur_.view;
  }
  next.number = cur_.view.number + 1;
  next.bounds = balance_bounds(next.members, map_.granule_count(), may_cut_);
  return next;
}

bool GroupMean::Engine::names_every_answer(const Control& control) const {
  if (control.plan.size() != cur_.parts()) {
    return false;
  }
  for (std::size_t p = 0; p < cur_.parts(); ++p) {
    if (!cur_.empty_part(p) && control.plan[p].reuse.is_zero()) {
      return false;
    }
  }
  return true;
}

void GroupMean::Engine::record_control(std::size_t from, const Ballot& ballot,
                                       const Control& control) {
  const auto& peer = cur_.view.members[from].id.peer;
  const bool reissue = names_every_answer(control);
  const bool leads = ballot.counter == 0 ? from == 0 : ballot.leader == peer;
  // Holders pass a complete vector on, as a control that names every answer.
  if (!leads && !reissue) {
    net_.penalise(peer, "not-the-leader");
    return;
  }
  const bool planned =
      ballot.counter == 0 ? control.plan.empty() || reissue : control.plan.size() == cur_.parts();
  const auto outside = [&](std::uint16_t m) { return m >= cur_.view.size(); };
  const bool fits = planned &&
                    std::none_of(control.excluded.begin(), control.excluded.end(), outside) &&
                    std::none_of(control.plan.begin(), control.plan.end(),
                                 [&](const PartPlan& p) { return outside(p.owner); }) &&
                    fits_model(control.next_view);
  if (!fits) {
    net_.penalise(peer, "wrong-control");
    return;
  }
  if (control.parent != cur_.parent) {
    net_.count("other-parent");
    return;
  }
  if (ballot < cur_.promised && leads && !reissue) {
    say_stale(peer);
    return;
  }
  if (cur_.ballot_of(from, ballot) == nullptr) {
    net_.count("too-many-ballots");
    return;
  }
  accept_control(ballot, control);
}

void GroupMean::Engine::accept_control(const Ballot& ballot, const Control& control) {
  auto& state = cur_.ballot(ballot);
  if (!state.control) {
    state.control = control;
    state.since = loop_.now();
  }
  if (control.plan.size() == cur_.parts()) {
    for (std::size_t p = 0; p < cur_.parts(); ++p) {
      if (!control.plan[p].reuse.is_zero() && !cur_.empty_part(p)) {
        state.issued[p] = control.plan[p].reuse;
        if (!cur_.answers.contains(control.plan[p].reuse)) {
          nudge_at_ = loop_.now();  // ask for it at the next tick
        }
      }
    }
  }
  if (ballot > cur_.promised) {
    cur_.promised = ballot;
  }
  if (ballot.counter > 0) {
    back_off();
  }
}

void GroupMean::Engine::record_prepare(std::size_t from, const Ballot& ballot) {
  const auto& peer = cur_.view.members[from].id.peer;
  if (ballot.counter == 0 || ballot.leader != peer) {
    net_.penalise(peer, "not-the-leader");
    return;
  }
  if (ballot < cur_.promised) {
    say_stale(peer);
    return;
  }
  if (cur_.ballot_of(from, ballot) == nullptr) {
    net_.count("too-many-ballots");
    return;
  }
  cur_.promised = ballot;
  back_off();
  post(peer, Class::kControl, framed(ballot, own_promise()));
}

Promise GroupMean::Engine::own_promise() const {
  Promise p;
  p.known.resize(cur_.parts());
  for (const auto& [hash, stored] : cur_.answers) {
    p.known[stored.answer.part] = hash;
  }
  if (cur_.held) {
    p.held = true;
    p.held_ballot = cur_.held->ballot;
    p.held_control = cur_.held->vector.control;
    p.held_answers = cur_.held->vector.answers;
  }
  return p;
}

void GroupMean::Engine::record_promise(std::size_t from, const Ballot& ballot,
                                       const Promise& promise) {
  if (!cur_.leading || cur_.leading->ballot != ballot) {
    net_.count("stale-ballot");
    return;
  }
  const bool fits = promise.known.size() == cur_.parts() &&
                    (!promise.held || (promise.held_answers.size() == cur_.parts() &&
                                       promise.held_control.parent == cur_.parent &&
                                       fits_model(promise.held_control.next_view)));
  if (!fits) {
    net_.penalise(cur_.view.members[from].id.peer, "wrong-promise");
    return;
  }
  cur_.leading->promises[from] = promise;
}

void GroupMean::Engine::start_ballot() {
  const std::uint32_t counter = std::max(cur_.counter_seen, cur_.promised.counter) + 1;
  if (counter > limits::kBallotsMax) {
    net_.count("ballots-used-up");  // decode() would refuse it, and our peers ban us for it
    back_off();
    return;
  }
  cur_.counter_seen = counter;
  const Ballot ballot{counter, net_.self()};
  cur_.promised = ballot;
  cur_.leading = Leading{ballot, {}, loop_.now(), false};
  cur_.leading->promises[cur_.me] = own_promise();
  ++stats_.recoveries;
  log_.debug("round " + std::to_string(cur_.round) + ": ballot " + std::to_string(counter));
  back_off();
  broadcast(Class::kControl, framed(ballot, Prepare{}));
}

void GroupMean::Engine::consider_propose() {
  if (!cur_.leading || cur_.leading->proposed || cur_.leading->ballot < cur_.promised ||
      cur_.leading->promises.size() < cur_.view.majority()) {
    return;
  }
  const auto usable = usable_members();
  const bool all = std::all_of(usable.begin(), usable.end(),
                               [&](std::size_t i) { return cur_.leading->promises.contains(i); });
  // Living members that say nothing are waited for: whoever misses the promise leaves the view.
  const Duration grace = options_.reproducible ? limits::kDeadlineMax : limits::kDeadlineMin;
  if (all || loop_.now() >= cur_.leading->since + grace) {
    propose();
  }
}

void GroupMean::Engine::propose() {
  auto& leading = *cur_.leading;
  leading.proposed = true;
  const Promise* highest = nullptr;
  std::set<std::size_t> staying;
  for (const auto& [member, promise] : leading.promises) {
    staying.insert(member);
    if (promise.held && (highest == nullptr || promise.held_ballot > highest->held_ballot)) {
      highest = &promise;
    }
  }
  Control c;
  if (highest != nullptr) {
    // Somebody holds a vector: it may be committed already, so it alone may be issued again.
    c = highest->held_control;
    c.excluded.clear();
    c.plan.assign(cur_.parts(), {});
    for (std::size_t p = 0; p < cur_.parts(); ++p) {
      c.plan[p].reuse = highest->held_answers[p];
    }
  } else {
    c = free_control(staying);
    plan_parts(c, staying);
  }
  const Ballot ballot = leading.ballot;
  accept_control(ballot, c);
  broadcast(Class::kControl, framed(ballot, std::move(c)));
}

/// Nobody holds anything: answers that exist are used again unless somebody must be left out of
/// them, other parts are reduced by their owner, or by the next member that answers.
void GroupMean::Engine::plan_parts(Control& control, const std::set<std::size_t>& staying) {
  for (std::size_t i = 0; i < cur_.view.size(); ++i) {
    if (!staying.contains(i) || cur_.left_out(i)) {
      control.excluded.push_back(static_cast<std::uint16_t>(i));
    }
  }
  control.plan.assign(cur_.parts(), {});
  // Atomic parts are all reduced anew, from one set of contributors.
  const bool reusable = !options_.atomic && cur_.refused.empty();
  for (std::size_t p = 0; p < cur_.parts(); ++p) {
    if (cur_.empty_part(p)) {
      continue;
    }
    for (const auto& [member, promise] : cur_.leading->promises) {
      if (reusable && control.plan[p].reuse.is_zero()) {
        control.plan[p].reuse = promise.known[p];
      }
    }
    std::size_t owner = p;
    for (std::size_t k = 0; k < cur_.view.size(); ++k) {
      owner = (p + k) % cur_.view.size();
      if (staying.contains(owner) && !cur_.left_out(owner)) {
        break;
      }
    }
    control.plan[p].owner = static_cast<std::uint16_t>(owner);
  }
}

}  // namespace shoal::comm
