/* C, for both sides of the table: the rows of LossOps. A gradient may be NULL: not wanted. */
#ifndef SHOAL_OPS_CUDA_LOSS_TABLE_H_
#define SHOAL_OPS_CUDA_LOSS_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As kernels::SoftmaxCrossEntropy. */
typedef struct ShoalCudaCrossEntropy {
  const float* logits;
  const int32_t* labels;
  float scale;
  float smoothing;
  int32_t ignored;
  int32_t ignores;
  float* dlogits;
  float* loss;
  int32_t* correct;
  size_t rows;
  size_t cols;
} ShoalCudaCrossEntropy;

/* As kernels::SquaredError, which has no `correct`, and kernels::BinaryCrossEntropy. */
typedef struct ShoalCudaRealLoss {
  const float* output;
  const float* targets;
  float scale;
  float* doutput;
  float* loss;
  int32_t* correct;
  size_t rows;
  size_t cols;
} ShoalCudaRealLoss;

typedef struct ShoalCudaLoss {
  int32_t (*softmax_cross_entropy)(ShoalCudaStream* stream, const ShoalCudaCrossEntropy* loss);
  int32_t (*squared_error)(ShoalCudaStream* stream, const ShoalCudaRealLoss* loss);
  int32_t (*binary_cross_entropy)(ShoalCudaStream* stream, const ShoalCudaRealLoss* loss);
} ShoalCudaLoss;

/* Inside the library: what the table holds. */
ShoalCudaLoss shoal_cuda_loss(void);

#ifdef __cplusplus
}
#endif

#endif
