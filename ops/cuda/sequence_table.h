/* C, for both sides of the table: the rows of SequenceOps. */
#ifndef SHOAL_OPS_CUDA_SEQUENCE_TABLE_H_
#define SHOAL_OPS_CUDA_SEQUENCE_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ShoalCudaAttention {
  const float* qkv; /* [batch, length, 3 heads head_width] */
  float* y;         /* out on the way forward, else in */
  float* log_sums;  /* alike */
  const float* dy;  /* NULL on the way forward */
  float* dqkv;      /* alike */
  size_t batch;
  size_t length;
  size_t heads;
  size_t head_width;
} ShoalCudaAttention;

/* Fields as those of device/sequence_ops.h. */
typedef struct ShoalCudaLstm {
  float* gates;
  const float* weight;
  const float* bias_input;
  const float* bias_hidden;
  float* h;
  float* c;
  size_t batch;
  size_t length;
  size_t hidden;
} ShoalCudaLstm;

typedef struct ShoalCudaLstmBackward {
  const float* gates;
  const float* weight;
  const float* c;
  const float* dh;
  float* dgates;
  float* carry;
  size_t batch;
  size_t length;
  size_t hidden;
} ShoalCudaLstmBackward;

typedef struct ShoalCudaGru {
  float* gates;
  const float* weight;
  const float* bias_input;
  const float* bias_hidden;
  float* h;
  float* hidden_n;
  float* recurrent;
  size_t batch;
  size_t length;
  size_t hidden;
} ShoalCudaGru;

typedef struct ShoalCudaGruBackward {
  const float* gates;
  const float* weight;
  const float* h;
  const float* hidden_n;
  const float* dh;
  float* dgates;
  float* drecurrent;
  float* carry;
  size_t batch;
  size_t length;
  size_t hidden;
} ShoalCudaGruBackward;

typedef struct ShoalCudaSequence {
  int32_t (*embed)(ShoalCudaStream* stream, const int32_t* tokens, const float* weight, float* y,
                   size_t rows, size_t cols);
  /* Adds. */
  int32_t (*embed_backward)(ShoalCudaStream* stream, const int32_t* tokens, const float* dy,
                            float* dweight, size_t rows, size_t cols);
  int32_t (*attention)(ShoalCudaStream* stream, const ShoalCudaAttention* run);
  int32_t (*attention_backward)(ShoalCudaStream* stream, const ShoalCudaAttention* run);
  int32_t (*lstm)(ShoalCudaStream* stream, const ShoalCudaLstm* run);
  int32_t (*lstm_backward)(ShoalCudaStream* stream, const ShoalCudaLstmBackward* run);
  int32_t (*gru)(ShoalCudaStream* stream, const ShoalCudaGru* run);
  int32_t (*gru_backward)(ShoalCudaStream* stream, const ShoalCudaGruBackward* run);
  int32_t (*shift_time)(ShoalCudaStream* stream, const float* x, float* y, size_t count,
                        size_t length, size_t cols);
} ShoalCudaSequence;

/* Inside the library: what the table holds. */
ShoalCudaSequence shoal_cuda_sequence(void);

#ifdef __cplusplus
}
#endif

#endif
