#include <algorithm>
#include <initializer_list>

#include "comm/limits.h"
#include "comm/memory_network.h"
#include "comm/memory_world.h"

// Connections and messages of the memory network.

namespace shoal::comm {
namespace {

constexpr std::uint64_t kHeaderBytesGuess = 200;  // of a message that is not encoded
constexpr Duration kDialTime = std::chrono::seconds(1);

/// When `bytes` that come at `start` have passed a place of this rate that is busy until then.
TimePoint passed(TimePoint start, TimePoint& busy_until, double rate, std::uint64_t bytes) {
  if (rate <= 0) {
    return start;
  }
  busy_until = std::max(start, busy_until) + from_seconds(static_cast<double>(bytes) / rate);
  return busy_until;
}

/// The least of those that bound anything; 0 when none does.
double least_rate(std::initializer_list<double> rates) {
  double least = 0;
  for (const double rate : rates) {
    least = rate > 0 && (least == 0 || rate < least) ? rate : least;
  }
  return least;
}

}  // namespace

void MemoryNetwork::allow(Node& node, const PeerId& peer, bool dials) {
  node.allowed[peer] = dials;
  if (Node* const other = find(peer); other != nullptr && other != &node) {
    try_connect(node, *other);
  }
  if (dials) {
    watch_dial(node, peer);
  }
}

void MemoryNetwork::forget(Node& node, const PeerId& peer) {
  node.allowed.erase(peer);
  Node* const other = find(peer);
  if (other == nullptr || !pair(node.index, other->index).connected()) {
    return;
  }
  disconnect(node, *other, direction(node.index, other->index).link.latency);
  if (std::exchange(direction(node.index, other->index).up, 0) != 0) {
    node.inbox.emplace_back(Closed{peer});
    node.dirty = true;
  }
}

void MemoryNetwork::try_connect(Node& a, Node& b) {
  Pair& p = pair(a.index, b.index);
  const auto from_a = a.allowed.find(b.id);
  const auto from_b = b.allowed.find(a.id);
  if (a.crashed || b.crashed || p.cut || p.connected() || from_a == a.allowed.end() ||
      from_b == b.allowed.end() || (!from_a->second && !from_b->second)) {
    return;
  }
  ++p.epoch;
  const TimePoint when = now_ + std::max(direction(a.index, b.index).link.latency,
                                         direction(b.index, a.index).link.latency);
  for (const auto& [self, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    Direction& out = direction(self->index, other->index);
    if (out.up != 0) {  // it has not noticed yet that the one before is gone
      schedule(when, {other->index, self->index, self->life, p.epoch, 0, Closed{other->id}});
    }
    out.busy_until = now_;
    out.link_until = now_;
    out.last_arrival = {when, when};
    out.control_waiting = 0;
    schedule(when, {other->index, self->index, self->life, p.epoch, 0, Connected{other->id}});
  }
}

/// Both ends find out after `notice`, when what was on the way from a dead peer has arrived.
void MemoryNetwork::disconnect(Node& a, Node& b, Duration notice) {
  Pair& p = pair(a.index, b.index);
  ++p.epoch;
  for (const auto& [self, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const auto& last = direction(other->index, self->index).last_arrival;
    const TimePoint when = std::max({now_ + notice, last[0], last[1]});
    schedule(when, {other->index, self->index, self->life, p.epoch, 0, Closed{other->id}});
  }
}

void MemoryNetwork::cut(const PeerId& a, const PeerId& b) {
  Node& x = get(a);
  Node& y = get(b);
  Pair& p = pair(x.index, y.index);
  if (std::exchange(p.cut, true) || !p.connected()) {
    return;
  }
  at(now_ + options_.close_notice, [this, &x, &y, count = ++p.cut_count] {
    const Pair& later = pair(x.index, y.index);
    if (later.cut && later.cut_count == count && later.connected()) {
      disconnect(x, y, Duration{0});
    }
  });
}

void MemoryNetwork::heal(const PeerId& a, const PeerId& b) {
  Node& x = get(a);
  Node& y = get(b);
  if (std::exchange(pair(x.index, y.index).cut, false)) {
    try_connect(x, y);
  }
}

void MemoryNetwork::partition(const std::vector<PeerId>& side) {
  for (const PeerId& inside : side) {
    for (const Node& other : nodes_) {
      if (std::find(side.begin(), side.end(), other.id) == side.end()) {
        cut(inside, other.id);
      }
    }
  }
}

void MemoryNetwork::heal_all() {
  for (std::size_t a = 0; a < nodes_.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      heal(nodes_[a].id, nodes_[b].id);
    }
  }
}

void MemoryNetwork::watch_dial(Node& node, const PeerId& peer) {
  const TimePoint due = now_ + kDialTime;
  node.dials[peer] = due;
  at(due, [this, &node, peer, due] {
    const auto dial = node.dials.find(peer);
    if (dial != node.dials.end() && dial->second == due) {  // and not forgotten or begun anew
      node.dials.erase(dial);
      check_dial(node, peer);
    }
  });
}

void MemoryNetwork::check_dial(Node& node, const PeerId& peer) {
  const Node* const other = find(peer);
  if (!node.allowed.contains(peer) ||
      (other != nullptr && pair(node.index, other->index).connected())) {
    return;
  }
  const bool there = other != nullptr && !other->crashed && !pair(node.index, other->index).cut;
  node.inbox.emplace_back(
      DialFailed{peer, "memory",
                 there ? "refused: peer " + peer.short_id() + " does not know our key"
                       : "unreachable: nobody answers for peer " + peer.short_id()});
}

SendFault MemoryNetwork::fault_of(const Sent& sent) {
  SendFault fault;
  if (on_send) {
    fault = on_send(sent);
  }
  for (const DelayWindow& window : delays_) {
    if (window.from == sent.from && window.first <= sent.index && sent.index <= window.last) {
      fault.delay += window.extra;
    }
  }
  return fault;
}

TimePoint MemoryNetwork::arrival(Node& from, Node& to, Class cls, std::uint64_t bytes,
                                 Duration delay) {
  Direction& out = direction(from.index, to.index);
  const MemoryLink& link = out.link;
  TimePoint when = std::max(now_, from.paused_until);
  if (cls == Class::kBulk) {
    // The three overlap, so the slowest counts; a receiver's rate holds what is sent back.
    const TimePoint start = when;
    when = std::max(passed(start, out.link_until, link.rate, bytes),
                    passed(start, from.up_until, from.rate_up, bytes));
    const TimePoint down = passed(start + link.latency, to.down_until, to.rate_down, bytes);
    when = std::max(when, down - link.latency);
    out.busy_until = when;
  }
  when = when + link.latency + delay;
  if (link.jitter > Duration{0}) {
    when = when + Duration(rng_.below(static_cast<std::uint64_t>(link.jitter.count()) + 1));
  }
  if (link.reorder > 0 && rng_.uniform() < link.reorder) {
    return when + Duration(rng_.below(static_cast<std::uint64_t>(link.reorder_by.count()) + 1));
  }
  TimePoint& last = out.last_arrival[static_cast<std::size_t>(cls)];
  when = std::max(when, last);
  last = when;
  return when;
}

/// The message as the receiver's decode() sees it, or what it says against it.
Event MemoryNetwork::through_codec(const Node& from, Class cls, Message&& message,
                                   std::uint64_t& bytes) const {
  const std::uint64_t payload = message.payload.size();
  bytes = kHeaderBytesGuess + payload;
  if (!options_.codec) {
    return Arrived{from.id, cls, std::move(message)};
  }
  const Bytes header = encode_header(message, payload, 0);
  bytes = header.size() + payload;
  const auto first =
      static_cast<std::size_t>(std::min<std::uint64_t>(payload, limits::kChunkBytesMax));
  Result<Frame> frame = decode(header.span(), message.payload.slice(0, first));
  if (!frame.ok()) {
    return Dropped{from.id, drop_reason(frame.error()), frame.error().message};
  }
  frame->message.payload = std::move(message.payload);
  return Arrived{from.id, cls, std::move(frame->message)};
}

SendResult MemoryNetwork::send(Node& from, const PeerId& to_id, Class cls, Message&& message) {
  Node* const to = find(to_id);
  if (to == nullptr || direction(from.index, to->index).up == 0) {
    return SendResult::kUnreachable;
  }
  Direction& out = direction(from.index, to->index);
  if (cls == Class::kControl ? out.control_waiting >= limits::kControlQueueMax
                             : !room(from, to_id, message.payload.size())) {
    return SendResult::kFull;
  }
  const std::uint64_t index = message_count_++;
  trace_ =
      mix(mix(trace_, index ^ (message.body.index() << 56U)),
          (from.index << 32U) ^ to->index ^ static_cast<std::uint64_t>(now_.since_start.count()));
  const SendFault fault = fault_of({index, from.id, to_id, cls, message});
  if (fault.crash_before) {
    crash(from.id);
  }
  if (from.crashed) {
    return SendResult::kOk;
  }
  const bool lost = fault.drop || (out.link.loss > 0 && rng_.uniform() < out.link.loss);
  const bool twice = out.link.duplicate > 0 && rng_.uniform() < out.link.duplicate;
  std::uint64_t bytes = 0;
  Event event = through_codec(from, cls, std::move(message), bytes);
  const TimePoint when = arrival(from, *to, cls, bytes, fault.delay);
  out.bytes += bytes;
  out.bulk_bytes += cls == Class::kBulk ? bytes : 0;
  if (!lost) {
    out.control_waiting += cls == Class::kControl ? 1 : 0;
    const std::uint64_t epoch = out.up;
    if (twice) {
      schedule(arrival(from, *to, cls, 0, fault.delay),
               {from.index, to->index, to->life, epoch, 0, event});
    }
    schedule(when, {from.index, to->index, to->life, epoch, bytes, std::move(event)});
  }
  if (fault.pause > Duration{0}) {
    pause(from.id, fault.pause);
  }
  if (fault.crash_after) {
    crash(from.id);
  }
  return SendResult::kOk;
}

bool MemoryNetwork::room(const Node& from, const PeerId& to_id, std::uint64_t bytes) const {
  const Node* const to = find(to_id);
  if (to == nullptr || from.out[to->index].up == 0) {
    return false;
  }
  const Direction& out = from.out[to->index];
  const double backlog = std::max(0.0, seconds(out.busy_until - now_)) *
                         least_rate({out.link.rate, from.rate_up, to->rate_down});
  // A message that is larger than the queue goes alone.
  return backlog == 0 ||
         backlog + static_cast<double>(bytes) <= static_cast<double>(limits::kBulkQueueBytesMax);
}

void MemoryNetwork::inject(const PeerId& from, const PeerId& to, const Bytes& header,
                           const Bytes& chunk) {
  Node& sender = get(from);
  Node& receiver = get(to);
  Result<Frame> frame = decode(header.span(), chunk);
  Event event = Dropped{};
  if (frame.ok()) {
    event = Arrived{from, Class::kControl, std::move(frame->message)};
  } else {
    event = Dropped{from, drop_reason(frame.error()), frame.error().message};
  }
  schedule(arrival(sender, receiver, Class::kControl, header.size() + chunk.size(), Duration{0}),
           {sender.index, receiver.index, receiver.life, pair(sender.index, receiver.index).epoch,
            header.size() + chunk.size(), std::move(event)});
}

void MemoryNetwork::inject_unknown(const PeerId& to) {
  Node& node = get(to);
  node.inbox.emplace_back(
      Dropped{PeerId{}, "unknown-key", "a stranger whose key is not on our list was refused"});
  node.dirty = true;
}

void MemoryNetwork::deliver(Delivery& d) {
  Node& to = nodes_[d.to];
  const Pair& p = pair(d.from, d.to);
  Direction& back = direction(d.to, d.from);
  const bool message =
      std::holds_alternative<Arrived>(d.event) || std::holds_alternative<Dropped>(d.event);
  if (message) {
    Direction& out = direction(d.from, d.to);
    const auto* arrived = std::get_if<Arrived>(&d.event);
    if (arrived != nullptr && arrived->cls == Class::kControl && out.control_waiting > 0) {
      --out.control_waiting;
    }
    // What a peer sent before it died still comes; what was on a cut link does not.
    const bool comes = p.epoch == d.epoch || (p.epoch == d.epoch + 1 && !p.connected());
    if (!comes || p.cut || !to.allowed.contains(nodes_[d.from].id)) {
      return;
    }
  } else if (p.epoch != d.epoch) {
    return;  // overtaken by the next connection
  }
  if (to.crashed || to.life != d.life) {
    return;
  }
  if (std::holds_alternative<Connected>(d.event)) {
    back.up = d.epoch;
  } else if (std::holds_alternative<Closed>(d.event)) {
    if (std::exchange(back.up, 0) == 0) {
      return;  // known already
    }
    const auto allowed = to.allowed.find(nodes_[d.from].id);
    if (allowed != to.allowed.end() && allowed->second) {
      watch_dial(to, allowed->first);
    }
  }
  trace_ = mix(trace_, mix(static_cast<std::uint64_t>(now_.since_start.count()),
                           (d.from << 40U) ^ (d.to << 8U) ^ d.event.index()));
  to.inbox.push_back(std::move(d.event));
  to.dirty = true;
}

/// How many peers have sent bulk to this one.
double MemoryNetwork::bulk_into(const Node& peer) const {
  const auto count = std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return peer.index < node.out.size() && node.out[peer.index].bulk_bytes > 0;
  });
  return static_cast<double>(std::max<std::ptrdiff_t>(count, 1));
}

/// As TCP reports it: what a flow gets while the others of its ends go too.
LinkStats MemoryNetwork::stats(const Node& node, const Node& peer) const {
  const Direction& out = node.out[peer.index];
  LinkStats s;
  s.bytes_sent = out.bytes;
  s.bytes_received = peer.out[node.index].bytes;
  s.round_trip = out.link.latency + peer.out[node.index].link.latency;
  s.delivery_rate = out.bytes > 0 ? least_rate({out.link.rate, node.rate_up / node.bulk_out(),
                                                peer.rate_down / bulk_into(peer)})
                                  : 0;
  return s;
}

}  // namespace shoal::comm
