#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "node/data/dataset.h"
#include "node/data/loader.h"
#include "ops/base/bytes.h"
#include "ops/base/result.h"
#include "ops/loss.h"
#include "ops/model.h"
#include "ops/optim/optimizer.h"

namespace shoal::node {

/// The computing half of a peer: a model on its device, fed from a data set. Threads: the compute
/// thread only, after construction.
class Trainer {
 public:
  /// `local` is the rule of local steps, over the model's space on its backend; null for none.
  Trainer(std::shared_ptr<ops::Backend> backend, std::unique_ptr<ops::Model> model,
          std::shared_ptr<const Dataset> dataset, std::unique_ptr<ops::Optimizer> local);

  /// From now on batches that are known ahead are filled by `post`, beside the computing.
  void prefetch_on(Loader::Post post);
  /// The samples of a step that will probably come next; a wrong guess costs nothing but itself.
  void announce(std::span<const std::uint32_t> samples, std::uint64_t step);

  /// Puts parameters and second array in the place of the model's own, unless it holds this
  /// version of them already. Spans of the whole space; buffers to be kept local are left alone.
  void load(std::uint64_t version, std::span<const float> parameters,
            std::span<const float> buffers);
  void read_parameters(std::span<float> out) const;
  void read_buffers(std::span<float> out) const;

  /// Gradient of the mean loss over these training samples, left in the model; `out` gets a copy
  /// when it is not empty. No samples: zeros. Errors: kData, kDevice.
  [[nodiscard]] Result<ops::BatchResult> gradient(std::span<const std::uint32_t> samples,
                                                  std::uint64_t step, std::span<float> out);
  /// One local step on these samples; `next` are those of the step behind it, if they are known.
  /// Requires: a local rule (checked). Errors: kData, kDevice.
  [[nodiscard]] Result<ops::BatchResult> local_step(std::span<const std::uint32_t> samples,
                                                    std::uint64_t step, double lr,
                                                    std::span<const std::uint32_t> next = {});
  /// Loss and accuracy over the test split, with what the model holds. Errors: kData, kDevice.
  [[nodiscard]] Result<ops::BatchResult> evaluate();

  /// The local rule's state, a peer's own. Errors: kData.
  void save_local(ByteWriter& out);
  [[nodiscard]] Status load_local(ByteReader& in);

  [[nodiscard]] const ops::Model& model() const { return *model_; }

 private:
  [[nodiscard]] Result<ops::BatchResult> gradient(std::span<const std::uint32_t> samples,
                                                  std::uint64_t step, std::span<float> out,
                                                  std::span<const std::uint32_t> next);

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::shared_ptr<ops::Backend> backend_;  // before the model, which frees its memory through it
  std::unique_ptr<ops::Model> model_;
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<ops::Optimizer> local_;
  std::uint64_t version_ = kNone;  // of the parameters that the model holds unchanged
};

}  // namespace shoal::node
