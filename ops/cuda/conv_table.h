/* C, for both sides of the table: the rows of ConvOps. A body works on `images` images from `first`
   on and on one group of channels; see kernels/conv.h. */
#ifndef SHOAL_OPS_CUDA_CONV_TABLE_H_
#define SHOAL_OPS_CUDA_CONV_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/cuda/stream.h"
#include "ops/kernels/conv_sizes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ShoalCudaConvPart { /* NOLINT: C */
  ShoalConvSizes sizes;
  size_t first;
  size_t images;
  size_t group;
} ShoalCudaConvPart;

typedef struct ShoalCudaConv { /* NOLINT: C */
  int32_t (*im2col)(ShoalCudaStream* stream, const ShoalCudaConvPart* part, const float* x,
                    float* col);
  int32_t (*col2im)(ShoalCudaStream* stream, const ShoalCudaConvPart* part, const float* col,
                    float* dx);
  int32_t (*result)(ShoalCudaStream* stream, const ShoalCudaConvPart* part, const float* product,
                    const float* bias, float* y, uint8_t* argmax, int32_t with_relu);
  int32_t (*result_backward)(ShoalCudaStream* stream, const ShoalCudaConvPart* part, const float* y,
                             const float* dy, const uint8_t* argmax, float* dproduct,
                             int32_t with_relu);
  int32_t (*bias_backward)(ShoalCudaStream* stream, const ShoalConvSizes* sizes, const float* y,
                           const float* dy, float* dbias, int32_t with_relu, int32_t add);
  int32_t (*max_pool)(ShoalCudaStream* stream, const ShoalPoolSizes* sizes, const float* x,
                      float* y, uint8_t* argmax);
  int32_t (*max_pool_backward)(ShoalCudaStream* stream, const ShoalPoolSizes* sizes,
                               const float* dy, const uint8_t* argmax, float* dx);
  int32_t (*avg_pool)(ShoalCudaStream* stream, const ShoalPoolSizes* sizes, const float* x,
                      float* y);
  int32_t (*avg_pool_backward)(ShoalCudaStream* stream, const ShoalPoolSizes* sizes,
                               const float* dy, float* dx);
  int32_t (*row_mean)(ShoalCudaStream* stream, const float* x, float* y, size_t rows, size_t cols);
  int32_t (*row_mean_backward)(ShoalCudaStream* stream, const float* dy, float* dx, size_t rows,
                               size_t cols);
} ShoalCudaConv;

/* Inside the library: what the table holds. */
ShoalCudaConv shoal_cuda_conv(void);

#ifdef __cplusplus
}
#endif

#endif
