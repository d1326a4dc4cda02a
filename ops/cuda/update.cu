#include "ops/cuda/launch.h"
#include "ops/cuda/update_table.h"
#include "ops/kernels/update.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::UpdateArrays;
using shoal::ops::UpdateNumbers;
using shoal::ops::UpdateRule;
using shoal::ops::cuda::launch;

int32_t update(ShoalCudaStream* stream, const ShoalCudaStep* s) {
  const UpdateArrays<float> arrays = {s->result, s->parameters, s->gradients, s->first, s->second};
  const UpdateNumbers<float> numbers = {s->rate,    s->decay,       s->beta1,
                                        s->keep1,   s->beta2,       s->keep2,
                                        s->epsilon, s->correction1, s->correction2};
  return kernels::with_update(
      static_cast<UpdateRule>(s->rule), arrays, numbers,
      [stream, s](const auto& body) -> int32_t { return launch(stream, s->count, body); });
}

int32_t sum_squares(ShoalCudaStream* stream, const float* x, double* leaves, size_t count) {
  return launch(stream, kernels::leaf_count(count), kernels::SumSquares<float>{x, leaves, count});
}

}  // namespace

ShoalCudaUpdate shoal_cuda_update(void) { return {&update, &sum_squares}; }
