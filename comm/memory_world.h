#pragma once

#include <algorithm>

// The insides of MemoryNetwork, shared by its two sources.

#include "comm/memory_network.h"

namespace shoal::comm {

struct MemoryNetwork::Direction {
  MemoryLink link;
  /// Epoch of the connection that the sender believes to stand; 0 none.
  std::uint64_t up = 0;
  TimePoint link_until;                     ///< the link itself is busy, and
  TimePoint busy_until;                     ///< what was sent has left
  std::array<TimePoint, 2> last_arrival{};  ///< by class
  std::size_t control_waiting = 0;
  std::uint64_t bytes = 0;       ///< that have left
  std::uint64_t bulk_bytes = 0;  ///< of those, bulk
};

/// A connection has an epoch of its own: odd while it stands, even between two.
struct MemoryNetwork::Pair {
  std::uint64_t epoch = 0;
  bool cut = false;
  std::uint64_t cut_count = 0;
  [[nodiscard]] bool connected() const { return epoch % 2 == 1; }
};

struct MemoryNetwork::Node {
  PeerId id;
  std::size_t index = 0;
  std::uint64_t life = 0;
  bool crashed = false;
  bool dirty = false;  ///< something has happened to it since its loop ran
  TimePoint paused_until;
  double rate_up = 0;
  double rate_down = 0;
  TimePoint up_until;  ///< busy sending, and
  TimePoint down_until;
  TimePoint next_timer = kNever;
  NodeEndpoint* endpoint = nullptr;
  Loop* loop = nullptr;
  std::vector<Event> inbox;
  std::map<PeerId, bool> allowed;     ///< whether we dial it
  std::map<PeerId, TimePoint> dials;  ///< when a dial without answer has failed
  std::vector<Direction> out;         ///< by index of the receiver
  std::vector<Pair> pairs;            ///< with nodes of a smaller index

  /// To how many peers it has sent bulk.
  [[nodiscard]] double bulk_out() const {
    const auto count =
        std::count_if(out.begin(), out.end(), [](const Direction& d) { return d.bulk_bytes > 0; });
    return static_cast<double>(std::max<std::ptrdiff_t>(count, 1));
  }
};

struct MemoryNetwork::Delivery {
  std::size_t from = 0;
  std::size_t to = 0;
  std::uint64_t life = 0;   ///< of the receiver
  std::uint64_t epoch = 0;  ///< of the connection, when sent
  std::uint64_t bytes = 0;
  Event event;
};

struct MemoryNetwork::Due {
  TimePoint when;
  std::uint64_t order;
  std::uint32_t slot;
  /// For a heap whose top is the earliest.
  friend bool operator<(const Due& a, const Due& b) {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }
};

class MemoryNetwork::NodeEndpoint final : public Endpoint {
 public:
  NodeEndpoint(MemoryNetwork& network, Node& node) : network_(network), node_(node) {}

  [[nodiscard]] PeerId self() const override { return node_.id; }
  [[nodiscard]] TimePoint now() const override { return network_.now_; }
  [[nodiscard]] bool virtual_time() const override { return true; }
  void allow(const PeerId& peer, const std::vector<std::string>& addresses) override;
  void forget(const PeerId& peer) override;
  SendResult send(const PeerId& to, Class cls, Message message) override;
  [[nodiscard]] bool room(const PeerId& to, std::uint64_t bytes) const override;
  std::vector<Event> take_events() override;
  void wait(TimePoint deadline) override;
  void wake() override;
  [[nodiscard]] LinkStats stats(const PeerId& peer) const override;
  [[nodiscard]] LinkStats totals() const override;
  void close(Duration linger) override;

 private:
  /// An endpoint of a life that has ended does nothing any more.
  [[nodiscard]] bool living() const { return node_.endpoint == this && !node_.crashed; }

  MemoryNetwork& network_;
  Node& node_;
};

}  // namespace shoal::comm
