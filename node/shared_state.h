#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/data/ledger.h"
#include "node/sync/strategy.h"
#include "ops/architecture.h"
#include "ops/base/bytes.h"
#include "ops/base/hash.h"
#include "ops/base/result.h"
#include "ops/optim/optimizer.h"

namespace shoal::node {

/// Where a run stands, the same on all members.
struct Progress {
  std::uint64_t round = 0;    ///< last round applied
  std::uint64_t steps = 0;    ///< global steps, as learning-rate schedules count them
  std::uint64_t samples = 0;  ///< behind all rounds applied
  std::uint64_t barren = 0;   ///< rounds in a row to which nobody contributed
  friend bool operator==(const Progress&, const Progress&) = default;
};

/// What a fresh or a received state is built with.
struct StateBuilder {
  std::shared_ptr<const ops::Architecture> architecture;
  const Strategy* strategy = nullptr;
  std::shared_ptr<ops::Backend> backend;  ///< float32 on the host
  std::uint64_t seed = 0;
  std::uint64_t samples = 0;  ///< of an epoch
  std::uint64_t epochs = 0;
};

/// What every member of a group holds alike, to the bit: parameters and second array in float32 on
/// the host whatever the device, the shared optimizer, the ledger, the progress. The device's copy
/// of the parameters is made from it.
class SharedState {
 public:
  /// As a run starts. Errors: kDevice.
  static Result<std::shared_ptr<SharedState>> fresh(const StateBuilder& builder);
  /// From what `save` wrote, here or on a peer. Errors: kData, saying what does not fit; safe on
  /// hostile bytes.
  static Result<std::shared_ptr<SharedState>> load(const StateBuilder& builder, ByteSpan bytes);

  /// A safetensors file: every parameter by its name, the rest beside them. Equal states give equal
  /// bytes. `metadata` is added to it (round and branch of a checkpoint), and the replicated state
  /// of the group's codec, if there is one.
  [[nodiscard]] Bytes save(const std::map<std::string, std::string>& metadata = {},
                           ByteSpan codec_state = {}) const;
  /// The state of the codec that a file holds; empty when it holds none. Errors: kData.
  static Result<ByteSpan> codec_state_in(ByteSpan file);
  /// The parameters alone, as other programs read them.
  [[nodiscard]] Bytes save_model() const;
  /// Hash of all of it.
  [[nodiscard]] Hash256 hash() const { return hash_of(save().span()); }
  /// As in summary.json: parameters and second array.
  [[nodiscard]] Hash256 parameter_hash() const;

  [[nodiscard]] const ParamMap& map() const { return architecture_->map(); }

 private:
  SharedState(const StateBuilder& builder, Ledger ledger_in);

  std::shared_ptr<const ops::Architecture> architecture_;
  std::shared_ptr<ops::Backend> backend_;  // before the optimizer, which frees through it

 public:
  std::vector<float> parameters;
  std::vector<float> buffers;
  std::unique_ptr<ops::Optimizer> optimizer;
  Ledger ledger;
  Progress progress;
};

/// Parameters and second array of a model.safetensors (or a checkpoint's shared file).
struct ModelValues {
  std::vector<float> parameters;
  std::vector<float> buffers;
};
/// Errors: kData, naming the tensor that is missing or of another shape.
Result<ModelValues> load_model(const ops::Architecture& architecture, ByteSpan bytes);

}  // namespace shoal::node
