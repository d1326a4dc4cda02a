/* C, for both sides of the table: the rows of NormOps; see kernels/norm.h. */
#ifndef SHOAL_OPS_CUDA_NORM_TABLE_H_
#define SHOAL_OPS_CUDA_NORM_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"
#include "ops/kernels/norm_sizes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dx, dweight and dbias may be NULL: not wanted. */
typedef struct ShoalCudaNormBackward { /* NOLINT: C */
  const float* x;
  const float* weight;
  const float* stats;
  const float* dy;
  float* dx;
  float* dweight;
  float* dbias;
  int32_t add;
} ShoalCudaNormBackward;

typedef struct ShoalCudaNorm { /* NOLINT: C */
  int32_t (*row_norm)(ShoalCudaStream* stream, const ShoalNormSizes* sizes, int32_t centered,
                      const float* x, const float* weight, const float* bias, float* y,
                      float* stats);
  int32_t (*row_norm_backward)(ShoalCudaStream* stream, const ShoalNormSizes* sizes,
                               int32_t centered, const ShoalCudaNormBackward* pass);
  int32_t (*batch_stats)(ShoalCudaStream* stream, const ShoalBatchNormSizes* sizes, const float* x,
                         float* stats);
  int32_t (*running_stats)(ShoalCudaStream* stream, double epsilon, size_t channels,
                           const float* mean, const float* variance, float* stats);
  int32_t (*batch_norm)(ShoalCudaStream* stream, const ShoalBatchNormSizes* sizes, const float* x,
                        const float* stats, const float* weight, const float* bias, float* y);
  int32_t (*batch_norm_backward)(ShoalCudaStream* stream, const ShoalBatchNormSizes* sizes,
                                 int32_t fixed, const ShoalCudaNormBackward* pass, float* sums);
  int32_t (*running_update)(ShoalCudaStream* stream, const ShoalBatchNormSizes* sizes,
                            float momentum, float unbiased, const float* stats, float* mean,
                            float* variance, float* batches);
} ShoalCudaNorm;

/* Inside the library: what the table holds. */
ShoalCudaNorm shoal_cuda_norm(void);

#ifdef __cplusplus
}
#endif

#endif
