#include "ops/cuda/launch.h"
#include "ops/cuda/pointwise_table.h"
#include "ops/kernels/activation.h"
#include "ops/kernels/dropout.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::Activation;
using shoal::ops::dispatch;
using shoal::ops::cuda::launch;

int32_t activate(ShoalCudaStream* stream, const float* x, float* y, size_t count,
                 int32_t activation) {
  return dispatch(static_cast<Activation>(activation), [=](auto tag) {
    return launch(stream, count, kernels::Activate<float, decltype(tag)::kValue>{x, y});
  });
}

int32_t bias_activation(ShoalCudaStream* stream, float* x, const float* bias, float* y, size_t rows,
                        size_t cols, int32_t activation) {
  return dispatch(static_cast<Activation>(activation), [=](auto tag) {
    return launch(stream, rows * cols,
                  kernels::BiasActivation<float, decltype(tag)::kValue>{x, bias, y, cols});
  });
}

int32_t bias_activation_backward(ShoalCudaStream* stream, const float* kept, float* dy,
                                 float* dbias, size_t rows, size_t cols, int32_t activation,
                                 int32_t add) {
  return dispatch(static_cast<Activation>(activation), [=](auto tag) {
    return launch(stream, cols,
                  kernels::BiasActivationBackward<float, decltype(tag)::kValue>{
                      kept, dy, dbias, rows, cols, add != 0});
  });
}

int32_t add(ShoalCudaStream* stream, const float* a, const float* b, float* y, size_t count,
            int32_t activation) {
  return dispatch(static_cast<Activation>(activation), [=](auto tag) {
    return launch(stream, count, kernels::AddActivation<float, decltype(tag)::kValue>{a, b, y});
  });
}

int32_t dropout(ShoalCudaStream* stream, const float* x, float* y, size_t count, uint64_t seed,
                uint64_t sequence, uint32_t threshold, float scale) {
  return launch(stream, (count + 3) / 4,
                kernels::DropoutBlock<float>{x, y, count, seed, sequence, threshold, scale});
}

}  // namespace

ShoalCudaPointwise shoal_cuda_pointwise(void) {
  return {&activate, &bias_activation, &bias_activation_backward, &add, &dropout};
}
