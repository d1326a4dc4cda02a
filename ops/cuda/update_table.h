/* C, for both sides of the table: the rows of UpdateOps. */
#ifndef SHOAL_OPS_CUDA_UPDATE_TABLE_H_
#define SHOAL_OPS_CUDA_UPDATE_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One step; see UpdateArrays and UpdateNumbers in kernels/update_rule.h. */
typedef struct ShoalCudaStep {
  int32_t rule; /* UpdateRule */
  float* result;
  const float* parameters;
  const float* gradients;
  float* first;
  float* second;
  size_t count;
  float rate;
  float decay;
  float beta1;
  float keep1;
  float beta2;
  float keep2;
  float epsilon;
  float correction1;
  float correction2;
} ShoalCudaStep;

typedef struct ShoalCudaUpdate {
  int32_t (*update)(ShoalCudaStream* stream, const ShoalCudaStep* step);
  int32_t (*sum_squares)(ShoalCudaStream* stream, const float* x, double* leaves, size_t count);
} ShoalCudaUpdate;

/* Inside the library: what the table holds. */
ShoalCudaUpdate shoal_cuda_update(void);

#ifdef __cplusplus
}
#endif

#endif
