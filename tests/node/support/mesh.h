#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "comm/loop.h"
#include "comm/net.h"

namespace shoal::node::tests {

/// Peers that hear each other perfectly, in virtual time: every message arrives whole after one
/// millisecond. For tests of what lies above sessions; the faults of networks are tested below.
class Mesh {
 public:
  explicit Mesh(std::size_t peers);
  ~Mesh();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] comm::Loop& loop(std::size_t i);
  [[nodiscard]] comm::Net& net(std::size_t i);
  /// The view of all peers in order, equal parts, over so many granules.
  [[nodiscard]] comm::View view(std::uint64_t granules) const;
  [[nodiscard]] TimePoint now() const { return now_; }

  /// The peer is gone: nothing reaches it or comes from it, and everybody is told.
  void kill(std::size_t i);
  /// Runs until `done` says so; false when `limit` of virtual time passed or nothing is left.
  bool run(const std::function<bool()>& done, Duration limit);

 private:
  struct Node;
  struct Delivery {
    std::size_t from;
    std::size_t to;
    comm::Message message;
  };
  std::vector<std::unique_ptr<Node>> nodes_;
  std::multimap<TimePoint, Delivery> deliveries_;
  std::set<std::size_t> dead_;
  TimePoint now_;
};

}  // namespace shoal::node::tests
