#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "comm/endpoint.h"
#include "comm/loop.h"
#include "ops/base/rng.h"

namespace shoal::comm {

/// One direction of a link between two peers.
struct MemoryLink {
  Duration latency = std::chrono::milliseconds(10);
  Duration jitter{0};    ///< uniform in [0, jitter], added to the latency
  double rate = 0;       ///< bytes/s of the bulk lane; 0 without bound. Control has its own lane
  double loss = 0;       ///< probability that a message vanishes
  double duplicate = 0;  ///< probability that it arrives twice
  double reorder = 0;    ///< probability that it does not wait for those before it ...
  Duration reorder_by = std::chrono::milliseconds(50);  ///< ... and comes up to this much later
};

/// What becomes of one message and its sender; see MemoryNetwork::on_send.
struct SendFault {
  bool drop = false;          ///< the message vanishes
  bool crash_before = false;  ///< the sender dies before the message has left
  bool crash_after = false;   ///< the sender dies when it has
  Duration delay{0};          ///< the message comes later, and those behind it on its lane
  Duration pause{0};          ///< the sender stands still after it
};

/// A world of peers in virtual time: deterministic in its seed and in what the peers do. Each peer
/// has an endpoint from `add` and a loop from `attach`; `run_until` moves time from event to event.
/// Messages pass through encode_header() and decode(), so that the codec is in play; messages of
/// one class on one link keep their order unless the link reorders.
/// Threads: one.
class MemoryNetwork {
 public:
  struct Options {
    std::uint64_t seed = 1;
    bool codec = true;  ///< false: messages are handed over as they are, for long searches
    MemoryLink link;    ///< of all pairs, until `set_link`
    Duration close_notice = std::chrono::milliseconds(500);  ///< until a lost connection is noticed
  };
  /// A message that is about to leave; its index counts all messages of the world from 0.
  struct Sent {
    std::uint64_t index;
    const PeerId& from;
    const PeerId& to;
    Class cls;
    const Message& message;
  };

  explicit MemoryNetwork(const Options& options);
  ~MemoryNetwork();
  MemoryNetwork(const MemoryNetwork&) = delete;
  MemoryNetwork& operator=(const MemoryNetwork&) = delete;

  /// A new endpoint; lives as long as the network. Under the id of a peer that crashed, its
  /// restart. Requires: no living peer has this id.
  Endpoint& add(const PeerId& peer);
  /// The loop that `run_until` runs for the peer.
  void attach(const PeerId& peer, Loop& loop);
  /// Forgets the loop, which is about to be destroyed; the endpoint goes on receiving.
  void detach(const PeerId& peer);

  void set_link(const PeerId& a, const PeerId& b, const MemoryLink& link);  ///< both directions
  void set_links(const MemoryLink& link);  ///< of all pairs, those to come too
  /// What a peer sends to all together and receives of all together, bulk only. Units: bytes/s; 0
  /// no bound.
  void set_rates(const PeerId& peer, double up, double down);

  /// The peer dies: nothing leaves or reaches it any more and its loop is not run again. What it
  /// sent before still arrives; then the others get Closed.
  void crash(const PeerId& peer);
  /// The peer stands still: events are held, timers do not run, nothing leaves.
  void pause(const PeerId& peer, Duration duration);
  void cut(const PeerId& a, const PeerId& b);  ///< what is on the way is lost; later, Closed
  void heal(const PeerId& a, const PeerId& b);
  /// Cuts every pair with one peer in `side` and one outside.
  void partition(const std::vector<PeerId>& side);
  void heal_all();
  /// Messages of `from` with an index in [first, last] come later by `extra`.
  void delay_messages(const PeerId& from, std::uint64_t first, std::uint64_t last, Duration extra);
  /// Calls `fn` at a time, between turns of the peers.
  void at(TimePoint when, std::function<void()> fn);

  /// Bytes as a hostile peer would send them over its standing connection.
  void inject(const PeerId& from, const PeerId& to, const Bytes& header, const Bytes& chunk);
  /// A stranger knocks: Dropped with "unknown-key" and no sender.
  void inject_unknown(const PeerId& to);

  /// Called for every message when it is sent; may call any member but run_until.
  std::function<SendFault(const Sent&)> on_send;
  /// Called between turns after a crash: the peer's loop and all above it may be destroyed.
  std::function<void(const PeerId&)> on_crash;

  [[nodiscard]] TimePoint now() const { return now_; }
  /// The endpoint of the peer's present life; null when there is none.
  [[nodiscard]] Endpoint* find_endpoint(const PeerId& peer);
  [[nodiscard]] bool crashed(const PeerId& peer) const;
  /// Messages sent so far; the next one has this index.
  [[nodiscard]] std::uint64_t message_count() const { return message_count_; }
  /// Hash over every send and arrival with its time: equal for equal histories.
  [[nodiscard]] std::uint64_t trace_hash() const { return trace_; }

  /// Runs the world until `done()` (asked between turns; true is returned) or until `end` or
  /// silence without end (false). Time stands at `end` then.
  bool run_until(TimePoint end, const std::function<bool()>& done = {});

 private:
  class NodeEndpoint;
  struct Node;
  struct Direction;
  struct Pair;
  struct Delivery;
  struct Due;

  Node* find(const PeerId& peer);
  const Node* find(const PeerId& peer) const;
  Node& get(const PeerId& peer);
  Direction& direction(std::size_t from, std::size_t to);
  Pair& pair(std::size_t a, std::size_t b);

  void allow(Node& node, const PeerId& peer, bool dials);
  void forget(Node& node, const PeerId& peer);
  SendResult send(Node& from, const PeerId& to, Class cls, Message&& message);
  bool room(const Node& from, const PeerId& to, std::uint64_t bytes) const;
  double bulk_into(const Node& peer) const;
  LinkStats stats(const Node& node, const Node& peer) const;

  void try_connect(Node& a, Node& b);
  void disconnect(Node& a, Node& b, Duration notice);
  void watch_dial(Node& node, const PeerId& peer);
  void check_dial(Node& node, const PeerId& peer);
  SendFault fault_of(const Sent& sent);
  TimePoint arrival(Node& from, Node& to, Class cls, std::uint64_t bytes, Duration delay);
  Event through_codec(const Node& from, Class cls, Message&& message, std::uint64_t& bytes) const;
  void schedule(TimePoint when, Delivery delivery);
  void deliver(Delivery& delivery);
  bool deliver_due();
  bool run_loops();
  void bury();
  [[nodiscard]] TimePoint next_time() const;

  Options options_;
  Rng rng_;
  TimePoint now_;
  std::uint64_t message_count_ = 0;
  std::uint64_t trace_ = 0;
  std::deque<Node> nodes_;  // a deque: callbacks may add peers
  std::unordered_map<PeerId, std::size_t> index_;
  std::vector<std::unique_ptr<NodeEndpoint>> endpoints_;  // of past lives too
  std::vector<Due> due_;                                  // a heap
  std::vector<Delivery> deliveries_;
  std::vector<std::uint32_t> free_deliveries_;
  std::uint64_t order_ = 0;
  std::multimap<TimePoint, std::function<void()>> actions_;
  struct DelayWindow {
    PeerId from;
    std::uint64_t first;
    std::uint64_t last;
    Duration extra;
  };
  std::vector<DelayWindow> delays_;
  std::vector<PeerId> dead_;  // crashed in this turn, not yet said
};

}  // namespace shoal::comm
