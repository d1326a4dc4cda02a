/* C, since the CUDA table passes these sizes too. */
#ifndef SHOAL_OPS_KERNELS_NORM_SIZES_H_
#define SHOAL_OPS_KERNELS_NORM_SIZES_H_

#include <stddef.h>

/* Rows that are normalised alone. Element i of row r has the factor and the offset of channel
   r % groups * (cols / inner) + i / inner: layer norm has groups 1 and inner 1, group norm the
   pixels of a plane as inner. */
typedef struct ShoalNormSizes { /* NOLINT: C */
  size_t rows;
  size_t cols;
  size_t groups;
  size_t inner;
  double epsilon;
} ShoalNormSizes;

/* x [batch, channels, inner], normalised over batch and inner. */
typedef struct ShoalBatchNormSizes { /* NOLINT: C */
  size_t batch;
  size_t channels;
  size_t inner;
  double epsilon;
} ShoalBatchNormSizes;

#endif
