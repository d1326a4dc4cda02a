#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/identity.h"
#include "comm/zmq_endpoint.h"
#include "node/config.h"
#include "node/peer_host.h"
#include "node/run/run_folder.h"

namespace shoal::node {

/// One peer as a process of its own, over encrypted ZeroMQ: what `up`'s children and `join` share.
struct PeerTask {
  PeerTask(Config config_in, comm::Identity identity_in, RunFolder folder_in)
      : config(std::move(config_in)),
        identity(std::move(identity_in)),
        folder(std::move(folder_in)) {}

  Config config;
  comm::Identity identity;
  RunFolder folder;
  std::uint64_t run = 0;
  std::vector<comm::PeerCard> roster;
  comm::PeerId founder;
  bool invites = false;
  std::optional<std::uint64_t> resume_round;  ///< agreed on by files
  std::vector<std::uint64_t> held;            ///< to agree on with the others
  Duration gather_within = std::chrono::seconds(60);
  Duration alone_within = Duration::max();
  std::function<void(const PeerStatus&)> on_status;
  /// Called ten times a second on the loop: where wishes from outside come in.
  std::function<void(PeerHost&)> poll;
  Log log;
};

/// What people call this peer: swarm.name, or the host's name.
std::string peer_name(const Config& config);

/// Errors: as ZmqEndpoint::open, port and addresses from swarm.*.
Result<std::unique_ptr<comm::ZmqEndpoint>> open_endpoint(const Config& config,
                                                         const comm::Identity& identity);

/// Rounds that a peer could go on from, newest first; which of them, the members agree on.
/// Errors: kData when there is none.
Result<std::vector<std::uint64_t>> held_rounds(const RunFolder& folder, const comm::PeerId& self,
                                               const Log& log);

/// Binds this process to the CPUs that limits.cores allows. Before threads are started.
/// Errors: kDevice.
Status apply_core_limit(const Config& config);

/// Whether limits.memory and this machine hold what the configuration takes. Errors: kDevice with
/// both figures.
Status check_memory(const Config& config);

/// Runs the peer to its end and closes the endpoint.
PeerSummary run_peer_process(comm::ZmqEndpoint& endpoint, PeerParts parts, PeerTask task);

}  // namespace shoal::node
