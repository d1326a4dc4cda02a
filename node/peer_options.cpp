#include "node/config.h"
#include "node/peer.h"

namespace shoal::node {

PeerOptions peer_options(const Config& config, ops::DeviceKind device) {
  PeerOptions o;
  o.name = config.get_string("swarm.name");
  o.seed = static_cast<std::uint64_t>(config.get_int("seed"));
  o.group.run_seed = o.seed;
  o.group.quorum =
      config.get_string("sync.quorum") == "any" ? comm::Quorum::kAny : comm::Quorum::kMajority;
  o.group.reproducible = config.get_bool("run.reproducible");
  o.worker.steps_max = static_cast<std::uint64_t>(config.get_int("train.steps_max"));
  o.worker.target_accuracy = config.get_float("train.target_accuracy");
  o.worker.target_loss = config.get_float("train.target_loss");
  o.worker.share = compute_share(config, device);
  o.worker.checkpoint_every = config.get_duration("checkpoint.every");
  o.status_every = config.get_duration("output.metrics_every");
  return o;
}

}  // namespace shoal::node
