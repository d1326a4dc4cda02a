/* C, for both sides of the table. */
#ifndef SHOAL_OPS_CUDA_STREAM_H_
#define SHOAL_OPS_CUDA_STREAM_H_

/* A device with its queue and BLAS handle. */
typedef struct ShoalCudaStream ShoalCudaStream; /* NOLINT: C */

#endif
