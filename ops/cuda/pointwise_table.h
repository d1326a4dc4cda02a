/* C, for both sides of the table: the rows of PointwiseOps. `activation` is the number of an
   Activation (kernels/activation_kind.h). */
#ifndef SHOAL_OPS_CUDA_POINTWISE_TABLE_H_
#define SHOAL_OPS_CUDA_POINTWISE_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ShoalCudaPointwise {
  int32_t (*activate)(ShoalCudaStream* stream, const float* x, float* y, size_t count,
                      int32_t activation);
  int32_t (*bias_activation)(ShoalCudaStream* stream, float* x, const float* bias, float* y,
                             size_t rows, size_t cols, int32_t activation);
  int32_t (*bias_activation_backward)(ShoalCudaStream* stream, const float* kept, float* dy,
                                      float* dbias, size_t rows, size_t cols, int32_t activation,
                                      int32_t add);
  int32_t (*add)(ShoalCudaStream* stream, const float* a, const float* b, float* y, size_t count,
                 int32_t activation);
  int32_t (*dropout)(ShoalCudaStream* stream, const float* x, float* y, size_t count, uint64_t seed,
                     uint64_t sequence, uint32_t threshold, float scale);
} ShoalCudaPointwise;

/* Inside the library: what the table holds. */
ShoalCudaPointwise shoal_cuda_pointwise(void);

#ifdef __cplusplus
}
#endif

#endif
