#pragma once

/// Marks what runs on the host and on a CUDA device. Such files are C++17 for nvcc.
#if defined(__CUDACC__)
#define SHOAL_HD __host__ __device__
#else
#define SHOAL_HD
#endif
