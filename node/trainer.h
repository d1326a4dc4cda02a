#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "node/config_schema.h"
#include "node/data/dataset.h"
#include "node/data/loader.h"
#include "ops/base/bytes.h"
#include "ops/base/result.h"
#include "ops/loss.h"
#include "ops/model.h"
#include "ops/optim/optimizer.h"

namespace shoal::node {

/// What will probably be taken next, and at which step.
struct Upcoming {
  std::span<const std::uint32_t> samples = {};
  std::uint64_t step = 0;
};

/// The computing half of a peer: a model on its device, fed from a data set. Threads: the compute
/// thread only, after construction.
class Trainer {
 public:
  /// `local` is the rule of local steps, over the model's space on its backend; null for none.
  /// `pass_samples`: of one forward and backward pass at most, in training and in evaluation;
  /// gradients are summed up over the passes of a batch.
  Trainer(std::shared_ptr<ops::Backend> backend, std::unique_ptr<ops::Model> model,
          std::shared_ptr<const Dataset> dataset, std::unique_ptr<ops::Optimizer> local,
          std::size_t pass_samples = kMicroBatch);

  /// From now on batches that are known ahead are filled by `post`, beside the computing; those of
  /// fewer bytes than `small` are left to the computing.
  void prefetch_on(Loader::Post post, std::size_t small = Loader::kSmall);
  [[nodiscard]] bool prefetches() const { return loader_->ahead_of_time(); }
  /// Passes for which a batch lay ready.
  [[nodiscard]] std::uint64_t ready_batches() const { return loader_->ready_batches(); }

  /// Puts parameters and second array in the place of the model's own, unless it holds this
  /// version of them already. Spans of the whole space; buffers to be kept local are left alone.
  void load(std::uint64_t version, std::span<const float> parameters,
            std::span<const float> buffers);
  void read_parameters(std::span<float> out) const;
  void read_buffers(std::span<float> out) const;

  /// Gradient of the mean loss over these training samples, left in the model; `out` gets a copy
  /// when it is not empty. No samples: zeros. What comes `next` is filled meanwhile; a wrong guess
  /// costs nothing but itself. Errors: kData, kDevice.
  [[nodiscard]] Result<ops::BatchResult> gradient(std::span<const std::uint32_t> samples,
                                                  std::uint64_t step, std::span<float> out,
                                                  Upcoming next = {});
  /// One local step on these samples.
  /// Requires: a local rule (checked). Errors: kData, kDevice.
  [[nodiscard]] Result<ops::BatchResult> local_step(std::span<const std::uint32_t> samples,
                                                    std::uint64_t step, double lr,
                                                    Upcoming next = {});
  /// Loss and accuracy over the test split, with what the model holds. Errors: kData, kDevice.
  [[nodiscard]] Result<ops::BatchResult> evaluate();

  /// The local rule's state, a peer's own. Errors: kData.
  void save_local(ByteWriter& out);
  [[nodiscard]] Status load_local(ByteReader& in);

  [[nodiscard]] const ops::Model& model() const { return *model_; }

 private:
  void announce(Upcoming next);

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::shared_ptr<ops::Backend> backend_;  // before the model, which frees its memory through it
  std::unique_ptr<ops::Model> model_;
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<ops::Optimizer> local_;
  std::size_t pass_samples_;
  std::uint64_t version_ = kNone;  // of the parameters that the model holds unchanged
};

}  // namespace shoal::node
