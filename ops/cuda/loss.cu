#include "ops/cuda/launch.h"
#include "ops/cuda/loss_table.h"
#include "ops/kernels/loss.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::cuda::launch;

int32_t softmax_cross_entropy(ShoalCudaStream* stream, const ShoalCudaCrossEntropy* l) {
  return launch(stream, l->rows,
                kernels::SoftmaxCrossEntropy<float>{l->logits, l->labels, l->scale, l->smoothing,
                                                    l->ignored, l->ignores != 0, l->dlogits,
                                                    l->loss, l->correct, l->cols});
}

int32_t squared_error(ShoalCudaStream* stream, const ShoalCudaRealLoss* l) {
  return launch(
      stream, l->rows,
      kernels::SquaredError<float>{l->output, l->targets, l->scale, l->doutput, l->loss, l->cols});
}

int32_t binary_cross_entropy(ShoalCudaStream* stream, const ShoalCudaRealLoss* l) {
  return launch(stream, l->rows,
                kernels::BinaryCrossEntropy<float>{l->output, l->targets, l->scale, l->doutput,
                                                   l->loss, l->correct, l->cols});
}

}  // namespace

ShoalCudaLoss shoal_cuda_loss(void) {
  return {&softmax_cross_entropy, &squared_error, &binary_cross_entropy};
}
