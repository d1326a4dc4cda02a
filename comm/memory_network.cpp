#include "comm/memory_network.h"

#include <algorithm>

#include "comm/memory_world.h"
#include "ops/base/check.h"

namespace shoal::comm {

MemoryNetwork::MemoryNetwork(const Options& options) : options_(options), rng_(options_.seed, 0) {}

MemoryNetwork::~MemoryNetwork() = default;

MemoryNetwork::Node* MemoryNetwork::find(const PeerId& peer) {
  const auto it = index_.find(peer);
  return it == index_.end() ? nullptr : &nodes_[it->second];
}

const MemoryNetwork::Node* MemoryNetwork::find(const PeerId& peer) const {
  const auto it = index_.find(peer);
  return it == index_.end() ? nullptr : &nodes_[it->second];
}

MemoryNetwork::Node& MemoryNetwork::get(const PeerId& peer) {
  Node* const node = find(peer);
  SHOAL_CHECK(node != nullptr, "the peer was added to this network");
  return *node;
}

MemoryNetwork::Direction& MemoryNetwork::direction(std::size_t from, std::size_t to) {
  return nodes_[from].out[to];
}

MemoryNetwork::Pair& MemoryNetwork::pair(std::size_t a, std::size_t b) {
  return nodes_[std::max(a, b)].pairs[std::min(a, b)];
}

Endpoint& MemoryNetwork::add(const PeerId& peer) {
  Node* node = find(peer);
  SHOAL_CHECK(node == nullptr || node->crashed, "one living peer under one id");
  if (node == nullptr) {
    index_.emplace(peer, nodes_.size());
    node = &nodes_.emplace_back();
    node->id = peer;
    node->index = nodes_.size() - 1;
    node->pairs.resize(nodes_.size());
    for (Node& other : nodes_) {
      other.out.resize(nodes_.size(), {options_.link, 0, {}, {}, {}, 0, 0});
    }
  }
  node->crashed = false;
  ++node->life;
  node->paused_until = {};
  node->next_timer = kNever;
  node->loop = nullptr;
  endpoints_.push_back(std::make_unique<NodeEndpoint>(*this, *node));
  node->endpoint = endpoints_.back().get();
  return *node->endpoint;
}

void MemoryNetwork::attach(const PeerId& peer, Loop& loop) {
  Node& node = get(peer);
  node.loop = &loop;
  node.dirty = true;
}

void MemoryNetwork::detach(const PeerId& peer) { get(peer).loop = nullptr; }

void MemoryNetwork::set_rates(const PeerId& peer, double up, double down) {
  Node& node = get(peer);
  node.rate_up = up;
  node.rate_down = down;
}

void MemoryNetwork::set_link(const PeerId& a, const PeerId& b, const MemoryLink& link) {
  direction(get(a).index, get(b).index).link = link;
  direction(get(b).index, get(a).index).link = link;
}

void MemoryNetwork::set_links(const MemoryLink& link) {
  options_.link = link;
  for (Node& node : nodes_) {
    for (Direction& d : node.out) {
      d.link = link;
    }
  }
}

void MemoryNetwork::crash(const PeerId& peer) {
  Node& node = get(peer);
  if (node.crashed) {
    return;
  }
  node.crashed = true;
  node.loop = nullptr;
  node.inbox.clear();
  node.allowed.clear();
  node.dials.clear();
  dead_.push_back(peer);
  for (Node& other : nodes_) {
    if (pair(node.index, other.index).connected()) {
      disconnect(node, other, options_.close_notice);
    }
    node.out[other.index].up = 0;
  }
}

void MemoryNetwork::pause(const PeerId& peer, Duration duration) {
  Node& node = get(peer);
  node.paused_until = std::max(node.paused_until, now_ + duration);
  at(node.paused_until, [&node] { node.dirty = true; });
}

void MemoryNetwork::delay_messages(const PeerId& from, std::uint64_t first, std::uint64_t last,
                                   Duration extra) {
  delays_.push_back({from, first, last, extra});
}

void MemoryNetwork::at(TimePoint when, std::function<void()> fn) {
  actions_.emplace(std::max(when, now_), std::move(fn));
}

Endpoint* MemoryNetwork::find_endpoint(const PeerId& peer) {
  Node* const node = find(peer);
  return node == nullptr || node->crashed ? nullptr : node->endpoint;
}

bool MemoryNetwork::crashed(const PeerId& peer) const {
  const Node* const node = find(peer);
  return node == nullptr || node->crashed;
}

void MemoryNetwork::schedule(TimePoint when, Delivery delivery) {
  std::uint32_t slot = 0;
  if (free_deliveries_.empty()) {
    slot = static_cast<std::uint32_t>(deliveries_.size());
    deliveries_.push_back(std::move(delivery));
  } else {
    slot = free_deliveries_.back();
    free_deliveries_.pop_back();
    deliveries_[slot] = std::move(delivery);
  }
  due_.push_back({when, order_++, slot});
  std::push_heap(due_.begin(), due_.end());
}

bool MemoryNetwork::deliver_due() {
  bool any = false;
  while (!due_.empty() && due_.front().when <= now_) {
    const std::uint32_t slot = due_.front().slot;
    std::pop_heap(due_.begin(), due_.end());
    due_.pop_back();
    Delivery delivery = std::move(deliveries_[slot]);
    free_deliveries_.push_back(slot);
    deliver(delivery);
    any = true;
  }
  while (!actions_.empty() && actions_.begin()->first <= now_) {
    const auto action = actions_.extract(actions_.begin());
    action.mapped()();
    for (Node& node : nodes_) {
      node.dirty = true;  // whatever the action did with its loop is seen
    }
    any = true;
  }
  return any;
}

bool MemoryNetwork::run_loops() {
  bool any = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (node.loop != nullptr && node.paused_until <= now_ &&
        (node.dirty || node.next_timer <= now_)) {
      node.dirty = false;
      node.next_timer = node.loop->run_ready();
      any = true;
    }
  }
  return any;
}

void MemoryNetwork::bury() {
  while (!dead_.empty()) {
    const PeerId peer = dead_.back();
    dead_.pop_back();
    if (on_crash) {
      on_crash(peer);
    }
  }
}

TimePoint MemoryNetwork::next_time() const {
  TimePoint next = due_.empty() ? kNever : due_.front().when;
  if (!actions_.empty()) {
    next = std::min(next, actions_.begin()->first);
  }
  for (const Node& node : nodes_) {
    if (node.loop != nullptr && node.paused_until <= now_) {
      next = std::min(next, node.next_timer);
    }
  }
  return next;
}

bool MemoryNetwork::run_until(TimePoint end, const std::function<bool()>& done) {
  for (Node& node : nodes_) {
    node.dirty = true;
  }
  for (;;) {
    for (bool busy = true; busy;) {
      busy = run_loops();
      bury();
      busy = deliver_due() || busy;
      if (done && done()) {
        return true;
      }
    }
    const TimePoint next = next_time();
    if (next > end || next == kNever) {
      now_ = end == kNever ? now_ : std::max(now_, end);
      return false;
    }
    now_ = std::max(now_, next);
  }
}

void MemoryNetwork::NodeEndpoint::allow(const PeerId& peer,
                                        const std::vector<std::string>& addresses) {
  if (living()) {
    network_.allow(node_, peer, !addresses.empty());
  }
}

void MemoryNetwork::NodeEndpoint::forget(const PeerId& peer) {
  if (living()) {
    network_.forget(node_, peer);
  }
}

SendResult MemoryNetwork::NodeEndpoint::send(const PeerId& to, Class cls, Message message) {
  // The dead do not notice that nothing leaves them any more.
  return living() ? network_.send(node_, to, cls, std::move(message)) : SendResult::kOk;
}

bool MemoryNetwork::NodeEndpoint::room(const PeerId& to, std::uint64_t bytes) const {
  return living() && network_.room(node_, to, bytes);
}

std::vector<Event> MemoryNetwork::NodeEndpoint::take_events() {
  if (!living() || node_.paused_until > network_.now_) {
    return {};
  }
  return std::exchange(node_.inbox, {});
}

void MemoryNetwork::NodeEndpoint::wait(TimePoint) {
  SHOAL_CHECK(false, "virtual time is run by MemoryNetwork::run_until, not by Loop::run");
}

void MemoryNetwork::NodeEndpoint::wake() { node_.dirty = true; }

LinkStats MemoryNetwork::NodeEndpoint::stats(const PeerId& peer) const {
  const Node* const other = network_.find(peer);
  return other == nullptr ? LinkStats{} : network_.stats(node_, *other);
}

LinkStats MemoryNetwork::NodeEndpoint::totals() const {
  LinkStats sum;
  for (const Node& other : network_.nodes_) {
    const LinkStats s = network_.stats(node_, other);
    sum.bytes_sent += s.bytes_sent;
    sum.bytes_received += s.bytes_received;
  }
  return sum;
}

void MemoryNetwork::NodeEndpoint::close(Duration) {
  if (living()) {
    for (const auto& [peer, dials] : std::exchange(node_.allowed, {})) {
      network_.forget(node_, peer);
    }
  }
}

}  // namespace shoal::comm
