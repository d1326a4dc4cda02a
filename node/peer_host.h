#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/founding.h"
#include "comm/membership.h"
#include "comm/session.h"
#include "node/peer.h"

namespace shoal::node {

/// Who a peer is among the others of its run.
struct HostOptions {
  comm::MembershipOptions membership;
  Hash256 keys_hash;
  std::size_t members = 1;             ///< the run begins when so many are here
  comm::PeerId founder;                ///< who draws the first view; its word on who fits is final
  std::vector<comm::PeerCard> roster;  ///< who may connect, ourselves or not
  std::uint64_t rate = 0;              ///< bytes/s we give; 0 unknown
  std::function<std::uint64_t()> draw_session;
  /// Rounds of which this peer holds a checkpoint, newest first, when it is to go on from one that
  /// the members of the first view agree on (see agreed_round()).
  std::vector<std::uint64_t> held;
  /// How long to wait for the others; the longest duration where people may take their time.
  Duration gather_within = std::chrono::seconds(60);
  PeerOptions peer;
  /// How long to wait while none of them is there.
  Duration alone_within = Duration::max();
};

/// A peer with its session: waits for the members of the run, begins, trains, says goodbye. Runs
/// the same over any endpoint. Threads: the loop.
class PeerHost {
 public:
  PeerHost(comm::Loop& loop, PeerParts parts, HostOptions options);
  ~PeerHost();
  PeerHost(const PeerHost&) = delete;
  PeerHost& operator=(const PeerHost&) = delete;

  comm::Task<PeerSummary> run();
  /// See Peer. While still waiting for the others, both end it at once.
  void request_stop();
  void request_leave();
  /// See Peer; no effect before the run has begun.
  void set_paused(bool paused);

  [[nodiscard]] const comm::Membership& membership() const { return membership_; }
  [[nodiscard]] Peer& peer() { return *peer_; }

 private:
  comm::Task<Result<PeerStart>> gather();
  comm::Task<void> found(std::optional<Result<comm::FirstView>>& out);
  comm::Task<void> turned_away();
  comm::Task<void> note_held();
  comm::Task<Status> agree_on_round(PeerStart& start);
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] Duration round_trip() const;

  comm::Loop& loop_;
  HostOptions options_;
  std::uint64_t granules_;
  comm::Membership membership_;
  std::unique_ptr<comm::Session> session_;
  std::unique_ptr<Peer> peer_;
  std::map<comm::PeerId, std::vector<std::uint64_t>> held_;  // by others, as they said first
  comm::Signal changed_;
  std::string refused_;  // why we are not of the founder's run
  std::string dial_sentence_;
  bool cancelled_ = false;
  bool begun_ = false;
};

}  // namespace shoal::node
