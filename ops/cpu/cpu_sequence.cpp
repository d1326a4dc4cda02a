#include "ops/cpu/cpu_sequence.h"

#include <algorithm>

#include "hwy/cache_control.h"
#include "ops/cpu/elementwise.h"
#include "ops/cpu/recurrent.h"
#include "ops/device/attention_shape.h"
#include "ops/device/recurrent_cells.h"

namespace shoal::ops {
namespace {

constexpr std::size_t kLine = 16;  // floats of a cache line

std::size_t sequences(const ConstTensorView& view) {
  return static_cast<std::size_t>(view.shape[0]);
}

constexpr auto kStart = [](std::size_t count, const auto& cell) { cpu::run_cells(count, cell); };

/// Rows times the recurrent weight [gates H, H], packed here, transposed on the way forward.
auto multiply_by(const ConstTensorView& weight, bool forward, std::size_t rows,
                 cpu::PackedMatrix& packed) {
  const std::size_t wide = weight.rows();
  const std::size_t hidden = weight.cols();
  packed.pack({weight.as<float>(), hidden, forward}, forward ? hidden : wide,
              forward ? wide : hidden);
  return [&packed, rows](const float* a, std::size_t a_stride, float* c, std::size_t c_stride,
                         bool add) {
    cpu::product({a, a_stride, false}, packed, c, c_stride, rows, packed.n(), packed.k(), add);
  };
}

/// Asks for a head's rows while the head before is worked on: they lie too far apart for the
/// machine to guess.
void fetch_rows(const float* first, std::size_t stride, std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row, first += stride) {
    for (std::size_t i = 0; i < width; i += kLine) {
      hwy::Prefetch(first + i);
    }
  }
}

/// Where a head of a sequence begins.
struct Places {
  std::size_t qkv;
  std::size_t y;

  Places(const AttentionShape& s, std::size_t pair)
      : qkv(pair / s.heads * s.length * 3 * s.width + pair % s.heads * s.head_width),
        y(pair / s.heads * s.length * s.width + pair % s.heads * s.head_width) {}

  [[nodiscard]] cpu::AttentionHead head(const AttentionShape& s, const float* all) const {
    const float* q = all + qkv;
    return {q, q + s.width, q + 2 * s.width, 3 * s.width, s.length, s.head_width};
  }
};

void fetch_head(const AttentionShape& s, const float* q) {
  for (const std::size_t part : {0, 1, 2}) {
    fetch_rows(q + part * s.width, 3 * s.width, s.length, s.head_width);
  }
}

}  // namespace

void CpuSequenceOps::embed(ConstTensorView tokens, ConstTensorView weight, TensorView y) {
  const std::size_t cols = weight.cols();
  float* out = y.as<float>();
  for (const auto token : tokens.span<std::int32_t>()) {
    out = std::copy_n(weight.as<float>() + static_cast<std::size_t>(token) * cols, cols, out);
  }
}

void CpuSequenceOps::embed_backward(ConstTensorView tokens, ConstTensorView dy, TensorView dweight,
                                    Into into) {
  const std::size_t cols = dweight.cols();
  if (into == Into::kReplace) {
    std::fill_n(dweight.as<float>(), dweight.elements(), 0.0F);
  }
  const float* from = dy.as<float>();
  for (const auto token : tokens.span<std::int32_t>()) {
    float* sum = dweight.as<float>() + static_cast<std::size_t>(token) * cols;
    cpu::add_activation(sum, from, sum, cols, Activation::kNone);
    from += cols;
  }
}

void CpuSequenceOps::attention(ConstTensorView qkv, std::size_t heads, TensorView y,
                               TensorView log_sums) {
  const AttentionShape s(qkv, heads);
  for (std::size_t pair = 0; pair < s.batch * heads; ++pair) {
    const Places at(s, pair);
    const Places next(s, std::min(pair + 1, s.batch * heads - 1));
    const float* q = qkv.as<float>();
    fetch_head(s, q + next.qkv);
    attention_.forward(at.head(s, q), y.as<float>() + at.y, s.width,
                       log_sums.as<float>() + pair * s.length);
  }
}

void CpuSequenceOps::attention_backward(ConstTensorView qkv, std::size_t heads,
                                        ConstTensorView /*y*/, ConstTensorView log_sums,
                                        ConstTensorView dy, TensorView dqkv) {
  const AttentionShape s(qkv, heads);
  for (std::size_t pair = 0; pair < s.batch * heads; ++pair) {
    const Places at(s, pair);
    const Places next(s, std::min(pair + 1, s.batch * heads - 1));
    const float* q = qkv.as<float>();
    fetch_head(s, q + next.qkv);
    fetch_rows(dy.as<float>() + next.y, s.width, s.length, s.head_width);
    float* dq = dqkv.as<float>() + at.qkv;
    attention_.backward(at.head(s, q), log_sums.as<float>() + pair * s.length,
                        dy.as<float>() + at.y, s.width, {dq, dq + s.width, dq + 2 * s.width});
  }
}

void CpuSequenceOps::lstm(const LstmForward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_forward(kernels::lstm_cell<float>(run), count,
                       multiply_by(run.weight, true, count, packed_), kStart);
}

void CpuSequenceOps::lstm_backward(const LstmBackward& run) {
  const std::size_t count = sequences(run.c);
  kernels::run_backward(kernels::lstm_cell<float>(run), ConstTensorView(run.dgates).as<float>(), 4,
                        count, multiply_by(run.weight, false, count, packed_), kStart);
}

void CpuSequenceOps::gru(const GruForward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_forward(kernels::gru_cell<float>(run), run.recurrent.as<float>(), count,
                       multiply_by(run.weight, true, count, packed_), kStart);
}

void CpuSequenceOps::gru_backward(const GruBackward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_backward(kernels::gru_cell<float>(run), ConstTensorView(run.drecurrent).as<float>(),
                        3, count, multiply_by(run.weight, false, count, packed_), kStart);
}

void CpuSequenceOps::shift_time(ConstTensorView x, TensorView y) {
  const std::size_t sequence = static_cast<std::size_t>(x.shape[1]) * x.cols();
  for (std::size_t first = 0; first < x.elements(); first += sequence) {
    float* out = std::fill_n(y.as<float>() + first, x.cols(), 0.0F);
    std::copy_n(x.as<float>() + first, sequence - x.cols(), out);
  }
}

}  // namespace shoal::ops
