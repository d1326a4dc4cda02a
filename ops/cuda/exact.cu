#include "ops/cuda/exact_table.h"
#include "ops/cuda/launch.h"
#include "ops/kernels/exact.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::cuda::launch;

int32_t scale(ShoalCudaStream* stream, float* x, float factor, size_t count) {
  return launch(stream, count, kernels::Scale<float>{x, factor});
}

int32_t add_scaled(ShoalCudaStream* stream, float* y, float factor, const float* x, size_t count) {
  return launch(stream, count, kernels::AddScaled<float>{y, x, factor});
}

}  // namespace

ShoalCudaExact shoal_cuda_exact(void) { return {&scale, &add_scaled}; }
