#pragma once

#include <memory>
#include <optional>

#include "comm/codec_choice.h"
#include "node/config.h"
#include "node/data/dataset.h"
#include "node/exchange_space.h"
#include "node/shared_state.h"
#include "node/sync/strategy.h"
#include "node/trainer.h"
#include "node/worker_data.h"
#include "ops/architecture.h"
#include "ops/base/log.h"

namespace shoal::node {

/// What a peer trains and with what, made from its configuration: everything but the network.
struct PeerParts {
  std::shared_ptr<Dataset> dataset;
  std::shared_ptr<const ops::Architecture> architecture;
  std::shared_ptr<const ExchangeSpace> exchange;
  std::unique_ptr<Strategy> strategy;
  StateBuilder builder;
  std::shared_ptr<SharedState> state;
  std::shared_ptr<Trainer> trainer;
  std::unique_ptr<WorkerData> data;
  std::optional<comm::CodecChoice> codec;
  std::optional<comm::CodecChoice> answer_codec;
};

/// `clock` measures what is chosen by speed; none in virtual time.
/// Errors: kConfig for values that do not fit each other, kData for files, kDevice.
Result<PeerParts> make_peer_parts(const Config& config, const Log& log,
                                  const Clock* clock = nullptr);

/// The data set alone, headers and labels read, features not.
Result<std::shared_ptr<Dataset>> open_configured_dataset(const Config& config);
/// The model alone, nothing allocated.
Result<std::shared_ptr<const ops::Architecture>> configured_architecture(const Config& config,
                                                                         const Dataset& dataset);
/// The strategy, its learning rates laid out over the whole run.
Result<std::unique_ptr<Strategy>> configured_strategy(const Config& config,
                                                      std::uint64_t train_samples);

}  // namespace shoal::node
