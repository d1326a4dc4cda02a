#include "ops/cuda/blas.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/sequence_table.h"
#include "ops/kernels/embedding.h"
#include "ops/kernels/recurrent.h"

namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::cuda::launch;
using shoal::ops::cuda::product;

int32_t embed(ShoalCudaStream* stream, const int32_t* tokens, const float* weight, float* y,
              size_t rows, size_t cols) {
  return launch(stream, rows * cols, kernels::Embed<float>{tokens, weight, y, cols});
}

int32_t embed_backward(ShoalCudaStream* stream, const int32_t* tokens, const float* dy,
                       float* dweight, size_t rows, size_t cols) {
  return launch(stream, cols, kernels::EmbedBackward<float>{tokens, dy, dweight, rows, cols});
}

int32_t shift_time(ShoalCudaStream* stream, const float* x, float* y, size_t count, size_t length,
                   size_t cols) {
  return launch(stream, count, kernels::ShiftTime<float>{x, y, length, cols});
}

/// Runs the steps of a recurrent layer and keeps the first failure. `forward`: h times the
/// transposed weight [gates hidden, hidden].
struct Steps {
  ShoalCudaStream* stream;
  const float* weight;
  size_t rows;
  size_t wide;
  size_t hidden;
  bool forward;
  int32_t status = 0;

  auto multiply() {
    return [this](const float* a, size_t a_stride, float* c, size_t c_stride, bool add) {
      if (status == 0 && rows > 0) {
        status = product(stream, {a, a_stride}, {weight, hidden, forward}, {c, c_stride, add}, rows,
                         forward ? wide : hidden, forward ? hidden : wide);
      }
    };
  }
  auto start() {
    return [this](size_t count, const auto& cell) {
      status = status == 0 ? launch(stream, count, cell) : status;
    };
  }
};

int32_t lstm(ShoalCudaStream* stream, const ShoalCudaLstm* r) {
  Steps steps{stream, r->weight, r->batch, 4 * r->hidden, r->hidden, true};
  kernels::run_forward(
      kernels::LstmCell<float>{
          r->gates, {r->bias_input, r->bias_hidden}, r->h, r->c, r->length, r->hidden, 0},
      r->batch, steps.multiply(), steps.start());
  return steps.status;
}

int32_t lstm_backward(ShoalCudaStream* stream, const ShoalCudaLstmBackward* r) {
  Steps steps{stream, r->weight, r->batch, 4 * r->hidden, r->hidden, false};
  kernels::run_backward(
      kernels::LstmCellBackward<float>{r->gates, r->c, r->dh, r->dgates, r->carry,
                                       r->carry + r->batch * r->hidden, r->length, r->hidden, 0},
      static_cast<const float*>(r->dgates), 4, r->batch, steps.multiply(), steps.start());
  return steps.status;
}

int32_t gru(ShoalCudaStream* stream, const ShoalCudaGru* r) {
  Steps steps{stream, r->weight, r->batch, 3 * r->hidden, r->hidden, true};
  kernels::run_forward(kernels::GruCell<float>{r->gates,
                                               {r->bias_input, r->bias_hidden},
                                               r->recurrent,
                                               r->h,
                                               r->hidden_n,
                                               r->length,
                                               r->hidden,
                                               0},
                       r->recurrent, r->batch, steps.multiply(), steps.start());
  return steps.status;
}

int32_t gru_backward(ShoalCudaStream* stream, const ShoalCudaGruBackward* r) {
  Steps steps{stream, r->weight, r->batch, 3 * r->hidden, r->hidden, false};
  kernels::run_backward(
      kernels::GruCellBackward<float>{r->gates, r->h, r->hidden_n, r->dh, r->dgates, r->drecurrent,
                                      r->carry, r->carry + r->batch * r->hidden, r->length,
                                      r->hidden, 0},
      static_cast<const float*>(r->drecurrent), 3, r->batch, steps.multiply(), steps.start());
  return steps.status;
}

}  // namespace

/* In attention.cu. */
int32_t shoal_cuda_attention(ShoalCudaStream* stream, const ShoalCudaAttention* run);
int32_t shoal_cuda_attention_backward(ShoalCudaStream* stream, const ShoalCudaAttention* run);

ShoalCudaSequence shoal_cuda_sequence(void) {
  return {&embed,
          &embed_backward,
          &shoal_cuda_attention,
          &shoal_cuda_attention_backward,
          &lstm,
          &lstm_backward,
          &gru,
          &gru_backward,
          &shift_time};
}
