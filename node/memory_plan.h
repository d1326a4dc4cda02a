#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/config.h"
#include "node/data/dataset.h"
#include "node/sync/strategy.h"
#include "ops/architecture.h"
#include "ops/base/result.h"
#include "ops/memory.h"

namespace shoal::node {

/// How a batch goes through the model: what `train.micro_batch` and `train.recompute` come to.
struct PassPlan {
  std::size_t micro_batch = 1;          ///< samples of one pass at most
  std::vector<ops::Segment> recompute;  ///< as Model::set_recompute
};

/// Bytes that one peer takes, computed before anything is allocated. What lies on the device is a
/// dry run of shapes; the rest follows from what the strategy and the codecs keep.
struct MemoryTable {
  ops::DeviceKind device = ops::DeviceKind::kCpu;
  PassPlan pass;
  ops::MemoryPlan training;      ///< on the device: the model and the rule of local steps
  std::uint64_t shared = 0;      ///< state that all peers hold alike: parameters, shared optimizer
  std::uint64_t exchange = 0;    ///< contribution, carry, residual, mean, encoded parts and answers
  std::uint64_t checkpoint = 0;  ///< the state as bytes, twice, beyond what an open round takes
  std::uint64_t batches = 0;     ///< the batch in use and the next
  std::uint64_t data = 0;        ///< samples held
  std::uint64_t process = 0;     ///< code, libraries, threads

  struct Row {
    bool on_device = false;
    std::string what;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::vector<Row> rows() const;
  /// Main memory: all of it on a CPU.
  [[nodiscard]] std::uint64_t main_bytes() const;
  /// Memory of a device that has its own; 0 on a CPU.
  [[nodiscard]] std::uint64_t device_bytes() const;
};

/// What a peer's memory is computed from.
struct MemoryParts {
  const Config& config;
  const Dataset& dataset;
  const ops::Architecture& architecture;
  const Strategy& strategy;
};

/// With "auto", the micro-batch is the largest up to kMicroBatch that fits limits.memory, and
/// layers are computed again only where even one sample does not fit; without a limit, or on a
/// device with memory of its own, there is nothing to fit into. Errors: kDevice when nothing fits,
/// kConfig for layers that are not there or can't be computed again.
Result<MemoryTable> plan_peer_memory(const MemoryParts& parts, ops::DeviceKind device);

/// The kind of device that a configuration will compute on here.
ops::DeviceKind planned_device(const Config& config);

/// Names of the layers in these segments, each once, in order.
std::vector<std::string> layer_names(const ops::Architecture& architecture,
                                     const std::vector<ops::Segment>& segments);

}  // namespace shoal::node
