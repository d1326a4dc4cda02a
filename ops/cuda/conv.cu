#include "ops/cuda/conv_table.h"
#include "ops/cuda/launch.h"
#include "ops/kernels/conv.h"
#include "ops/kernels/pool.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::cuda::launch;

int32_t im2col(ShoalCudaStream* stream, const ShoalCudaConvPart* p, const float* x, float* col) {
  const size_t count = kernels::conv_depth(p->sizes) * p->images * kernels::conv_places(p->sizes);
  return launch(stream, count,
                kernels::Im2col<float>{p->sizes, p->first, p->images, p->group, x, col});
}

int32_t col2im(ShoalCudaStream* stream, const ShoalCudaConvPart* p, const float* col, float* dx) {
  const ShoalConvSizes& s = p->sizes;
  return launch(stream, p->images * (s.in / s.groups) * s.height * s.width,
                kernels::Col2im<float>{s, p->first, p->images, p->group, col, dx});
}

int32_t result(ShoalCudaStream* stream, const ShoalCudaConvPart* p, const float* product,
               const float* bias, float* y, uint8_t* argmax, int32_t with_relu) {
  const ShoalConvSizes& s = p->sizes;
  const size_t places = (s.conv_height / s.pool) * (s.conv_width / s.pool);
  return launch(stream, p->images * (s.out / s.groups) * places,
                kernels::ConvResult<float>{s, p->first, p->images, p->group, product, bias, y,
                                           argmax, with_relu != 0});
}

int32_t result_backward(ShoalCudaStream* stream, const ShoalCudaConvPart* p, const float* y,
                        const float* dy, const uint8_t* argmax, float* dproduct,
                        int32_t with_relu) {
  const ShoalConvSizes& s = p->sizes;
  return launch(stream, p->images * (s.out / s.groups) * kernels::conv_places(s),
                kernels::ConvResultBackward<float>{s, p->first, p->images, p->group, y, dy, argmax,
                                                   dproduct, with_relu != 0});
}

int32_t bias_backward(ShoalCudaStream* stream, const ShoalConvSizes* s, const float* y,
                      const float* dy, float* dbias, int32_t with_relu, int32_t add) {
  return launch(stream, s->out,
                kernels::ConvBiasBackward<float>{*s, y, dy, dbias, with_relu != 0, add != 0});
}

int32_t max_pool(ShoalCudaStream* stream, const ShoalPoolSizes* s, const float* x, float* y,
                 uint8_t* argmax) {
  return launch(stream, s->planes * s->out_height * s->out_width,
                kernels::MaxPool<float>{*s, x, y, argmax});
}

int32_t max_pool_backward(ShoalCudaStream* stream, const ShoalPoolSizes* s, const float* dy,
                          const uint8_t* argmax, float* dx) {
  return launch(stream, s->planes * s->height * s->width,
                kernels::MaxPoolBackward<float>{*s, dy, argmax, dx});
}

int32_t avg_pool(ShoalCudaStream* stream, const ShoalPoolSizes* s, const float* x, float* y) {
  return launch(stream, s->planes * s->out_height * s->out_width,
                kernels::AvgPool<float>{*s, x, y});
}

int32_t avg_pool_backward(ShoalCudaStream* stream, const ShoalPoolSizes* s, const float* dy,
                          float* dx) {
  return launch(stream, s->planes * s->height * s->width,
                kernels::AvgPoolBackward<float>{*s, dy, dx});
}

int32_t row_mean(ShoalCudaStream* stream, const float* x, float* y, size_t rows, size_t cols) {
  return launch(stream, rows, kernels::RowMean<float>{x, y, cols});
}

int32_t row_mean_backward(ShoalCudaStream* stream, const float* dy, float* dx, size_t rows,
                          size_t cols) {
  return launch(stream, rows * cols, kernels::RowMeanBackward<float>{dy, dx, cols});
}

}  // namespace

ShoalCudaConv shoal_cuda_conv(void) {
  return {&im2col,
          &col2im,
          &result,
          &result_backward,
          &bias_backward,
          &max_pool,
          &max_pool_backward,
          &avg_pool,
          &avg_pool_backward,
          &row_mean,
          &row_mean_backward};
}
