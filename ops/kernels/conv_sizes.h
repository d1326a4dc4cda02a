/* C, since the CUDA table passes these sizes too. */
#ifndef SHOAL_OPS_KERNELS_CONV_SIZES_H_
#define SHOAL_OPS_KERNELS_CONV_SIZES_H_

#include <stddef.h>

/* A two-dimensional convolution of [batch, in, height, width], a square kernel, and a max pooling
   of its result in the same pass. */
typedef struct ShoalConvSizes { /* NOLINT: C */
  size_t batch;
  size_t in; /* channels */
  size_t height;
  size_t width;
  size_t out; /* channels */
  size_t kernel;
  size_t stride;
  size_t padding;
  size_t dilation;
  size_t groups;
  size_t conv_height; /* of the result */
  size_t conv_width;
  size_t pool; /* window and stride of the pooling; 1: none */
} ShoalConvSizes;

/* Square windows over planes [planes, height, width]. */
typedef struct ShoalPoolSizes { /* NOLINT: C */
  size_t planes;
  size_t height;
  size_t width;
  size_t kernel;
  size_t stride;
  size_t padding;
  size_t out_height;
  size_t out_width;
} ShoalPoolSizes;

#endif
