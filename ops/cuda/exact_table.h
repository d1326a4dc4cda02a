/* C, for both sides of the table: the rows of ExactOps. */
#ifndef SHOAL_OPS_CUDA_EXACT_TABLE_H_
#define SHOAL_OPS_CUDA_EXACT_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ShoalCudaExact {
  int32_t (*scale)(ShoalCudaStream* stream, float* x, float factor, size_t count);
  int32_t (*add_scaled)(ShoalCudaStream* stream, float* y, float factor, const float* x,
                        size_t count);
} ShoalCudaExact;

/* Inside the library: what the table holds. */
ShoalCudaExact shoal_cuda_exact(void);

#ifdef __cplusplus
}
#endif

#endif
