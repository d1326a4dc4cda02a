#include "ops/cuda/launch.h"
#include "ops/cuda/norm_table.h"
#include "ops/kernels/norm.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::cuda::launch;

int32_t row_norm(ShoalCudaStream* stream, const ShoalNormSizes* s, int32_t centered, const float* x,
                 const float* weight, const float* bias, float* y, float* stats) {
  return launch(stream, s->rows,
                kernels::RowNorm<float>{*s, x, weight, bias, y, stats, centered != 0});
}

int32_t row_norm_backward(ShoalCudaStream* stream, const ShoalNormSizes* s, int32_t centered,
                          const ShoalCudaNormBackward* p) {
  if (p->dweight != nullptr || p->dbias != nullptr) {
    const int32_t status =
        launch(stream, kernels::norm_channels(*s),
               kernels::RowNormParameters<float>{*s, p->x, p->stats, p->dy, p->dweight, p->dbias,
                                                 p->add != 0});
    if (status != 0) {
      return status;
    }
  }
  if (p->dx == nullptr) {
    return 0;
  }
  return launch(
      stream, s->rows,
      kernels::RowNormBackward<float>{*s, p->x, p->weight, p->stats, p->dy, p->dx, centered != 0});
}

int32_t batch_stats(ShoalCudaStream* stream, const ShoalBatchNormSizes* s, const float* x,
                    float* stats) {
  return launch(stream, s->channels, kernels::BatchStats<float>{*s, x, stats});
}

int32_t running_stats(ShoalCudaStream* stream, double epsilon, size_t channels, const float* mean,
                      const float* variance, float* stats) {
  return launch(stream, channels, kernels::RunningStats<float>{epsilon, mean, variance, stats});
}

int32_t batch_norm(ShoalCudaStream* stream, const ShoalBatchNormSizes* s, const float* x,
                   const float* stats, const float* weight, const float* bias, float* y) {
  return launch(stream, s->batch * s->channels * s->inner,
                kernels::BatchNormApply<float>{*s, x, stats, weight, bias, y});
}

int32_t batch_norm_backward(ShoalCudaStream* stream, const ShoalBatchNormSizes* s, int32_t fixed,
                            const ShoalCudaNormBackward* p, float* sums) {
  const int32_t status = launch(stream, s->channels,
                                kernels::BatchNormSums<float>{*s, p->x, p->stats, p->dy, sums,
                                                              p->dweight, p->dbias, p->add != 0});
  if (status != 0 || p->dx == nullptr) {
    return status;
  }
  return launch(stream, s->batch * s->channels * s->inner,
                kernels::BatchNormBackward<float>{*s, p->x, p->stats, p->weight, sums, p->dy, p->dx,
                                                  fixed != 0});
}

int32_t running_update(ShoalCudaStream* stream, const ShoalBatchNormSizes* s, float momentum,
                       float unbiased, const float* stats, float* mean, float* variance,
                       float* batches) {
  return launch(stream, s->channels,
                kernels::RunningUpdate<float>{stats, mean, variance, batches, momentum, unbiased});
}

}  // namespace

ShoalCudaNorm shoal_cuda_norm(void) {
  return {&row_norm,   &row_norm_backward,   &batch_stats,   &running_stats,
          &batch_norm, &batch_norm_backward, &running_update};
}
