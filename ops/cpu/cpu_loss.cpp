#include "ops/cpu/cpu_loss.h"

#include "ops/cpu/loss.h"

namespace shoal::ops {

void CpuLossOps::softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                                       const CrossEntropy& options, TensorView dlogits,
                                       TensorView loss, TensorView correct) {
  cpu::softmax_cross_entropy(
      {logits.as<float>(), labels.as<std::int32_t>(), static_cast<float>(options.scale),
       static_cast<float>(options.smoothing), options.ignored, options.ignores,
       dlogits.as_or_null<float>(), loss.as<float>(), correct.as<std::int32_t>(), logits.cols()},
      logits.rows());
}

}  // namespace shoal::ops
