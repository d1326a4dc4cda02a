#include "ops/cuda/cuda_loss.h"

namespace shoal::ops {

void CudaLossOps::softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                                        const CrossEntropy& options, TensorView dlogits,
                                        TensorView loss, TensorView correct) {
  const ShoalCudaCrossEntropy row = {logits.as<float>(),
                                     labels.as<std::int32_t>(),
                                     static_cast<float>(options.scale),
                                     static_cast<float>(options.smoothing),
                                     options.ignored,
                                     options.ignores,
                                     dlogits.as_or_null<float>(),
                                     loss.as<float>(),
                                     correct.as<std::int32_t>(),
                                     logits.rows(),
                                     logits.cols()};
  queue_.note(queue_.table.loss.softmax_cross_entropy(queue_.stream, &row));
}

void CudaLossOps::squared_error(ConstTensorView output, ConstTensorView targets, double scale,
                                TensorView doutput, TensorView loss) {
  const ShoalCudaRealLoss row = {output.as<float>(),
                                 targets.as<float>(),
                                 static_cast<float>(scale),
                                 doutput.as_or_null<float>(),
                                 loss.as<float>(),
                                 nullptr,
                                 output.rows(),
                                 output.cols()};
  queue_.note(queue_.table.loss.squared_error(queue_.stream, &row));
}

void CudaLossOps::binary_cross_entropy(ConstTensorView logits, ConstTensorView targets,
                                       double scale, TensorView dlogits, TensorView loss,
                                       TensorView correct) {
  const ShoalCudaRealLoss row = {logits.as<float>(),
                                 targets.as<float>(),
                                 static_cast<float>(scale),
                                 dlogits.as_or_null<float>(),
                                 loss.as<float>(),
                                 correct.as<std::int32_t>(),
                                 logits.rows(),
                                 logits.cols()};
  queue_.note(queue_.table.loss.binary_cross_entropy(queue_.stream, &row));
}

}  // namespace shoal::ops
