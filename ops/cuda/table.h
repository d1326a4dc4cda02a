/* The one seam between shoal and CUDA: a versioned table of plain C functions. libshoal_cuda.so
   exports shoal_cuda_table() and nothing else; backend.cpp loads it at run time. All pointers but
   those named host lie on the device. Work is queued on the stream; finish() waits. Every function
   returns 0 or a status that error_text() puts in words. One thread at a time uses a stream; it may
   be any. Change anything: raise the version. */
#ifndef SHOAL_OPS_CUDA_TABLE_H_
#define SHOAL_OPS_CUDA_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/conv_table.h"
#include "ops/cuda/exact_table.h"
#include "ops/cuda/loss_table.h"
#include "ops/cuda/norm_table.h"
#include "ops/cuda/pointwise_table.h"
#include "ops/cuda/sequence_table.h"
#include "ops/cuda/stream.h"
#include "ops/cuda/update_table.h"

#define SHOAL_CUDA_TABLE_VERSION 4U
#define SHOAL_CUDA_LIBRARY "libshoal_cuda.so"
#define SHOAL_CUDA_TABLE_SYMBOL "shoal_cuda_table"
/* Of a stream's own, pinned on the host and as much on the device, for copies beside the work. */
#define SHOAL_CUDA_STAGING_BYTES 8388608U

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ShoalCudaTable {
  uint32_t version; /* SHOAL_CUDA_TABLE_VERSION */
  uint32_t bytes;   /* sizeof(ShoalCudaTable) */

  const char* (*error_text)(int32_t status);
  int32_t (*device_count)(int32_t* count);
  /* tf32: products may keep ten bits of each factor, which is faster. */
  int32_t (*open)(int32_t device, int32_t tf32, ShoalCudaStream** stream);
  void (*close)(ShoalCudaStream* stream);
  /* Name of the device, host text of at most `bytes` with its 0. */
  int32_t (*device_name)(ShoalCudaStream* stream, char* text, size_t bytes);

  /* Zeroed memory. */
  int32_t (*allocate)(ShoalCudaStream* stream, size_t bytes, void** data);
  int32_t (*release)(ShoalCudaStream* stream, void* data);
  int32_t (*zero)(ShoalCudaStream* stream, void* data, size_t bytes);
  /* Both in order with what is queued, and back when the host memory may be used again; copy_out
     waits for all of it. */
  int32_t (*copy_in)(ShoalCudaStream* stream, void* data, const void* host, size_t bytes);
  int32_t (*copy_out)(ShoalCudaStream* stream, void* host, const void* data, size_t bytes);
  int32_t (*copy)(ShoalCudaStream* stream, void* to, const void* from, size_t bytes);
  int32_t (*finish)(ShoalCudaStream* stream);

  /* Row-major c [m, n] = op(a) op(b) (+ c); lda and ldb are the row lengths in memory. */
  int32_t (*gemm)(ShoalCudaStream* stream, int32_t transpose_a, int32_t transpose_b, size_t m,
                  size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb,
                  float* c, int32_t add);

  /* Families of operations, each with rows of its own. */
  ShoalCudaConv conv;
  ShoalCudaExact exact;
  ShoalCudaLoss loss;
  ShoalCudaNorm norm;
  ShoalCudaPointwise pointwise;
  ShoalCudaSequence sequence;
  ShoalCudaUpdate update;
} ShoalCudaTable;

typedef const ShoalCudaTable* (*ShoalCudaTableFunction)(void); /* NOLINT: C */

#ifdef __cplusplus
}
#endif

#endif
