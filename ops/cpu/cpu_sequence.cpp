#include "ops/cpu/cpu_sequence.h"

#include <algorithm>
#include <cmath>

#include "hwy/cache_control.h"
#include "ops/cpu/attention.h"
#include "ops/cpu/elementwise.h"
#include "ops/cpu/recurrent.h"
#include "ops/device/attention_shape.h"
#include "ops/device/recurrent_cells.h"

namespace shoal::ops {
namespace {

constexpr std::size_t kTile = kernels::kAttentionTile;
constexpr std::size_t kLine = 16;  // floats of a cache line

std::size_t rounded(std::size_t keys) { return (keys + kLine - 1) / kLine * kLine; }

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

}  // namespace

/// q, k and v of one head of one sequence.
struct CpuSequenceOps::Pair {
  const float* q;
  const float* k;
  const float* v;
  std::size_t stride;
};

namespace {

/// Asks for a head's rows while the head before is worked on: they lie too far apart for the
/// machine to guess.
void fetch_rows(const float* first, std::size_t stride, std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row, first += stride) {
    for (std::size_t i = 0; i < width; i += kLine) {
      hwy::Prefetch(first + i);
    }
  }
}

}  // namespace

float* CpuSequenceOps::tile(std::size_t count) {
  tile_.resize(std::max(tile_.size(), count + kLine));
  const auto line = reinterpret_cast<std::uintptr_t>(tile_.data()) / sizeof(float) % kLine;
  return tile_.data() + (kLine - line) % kLine;
}

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

void CpuSequenceOps::attend(const AttentionShape& s, const Pair& pair, float* y, float* log_sums) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(s.head_width));
  float* weights = tile(kTile * rounded(s.length));
  auto& keys_turned = packed_[0];
  keys_turned.pack({pair.k, pair.stride, true}, s.head_width, s.length);
  for (std::size_t first = 0; first < s.length; first += kTile) {
    const std::size_t rows = std::min(kTile, s.length - first);
    const std::size_t keys = first + rows;
    const std::size_t stride = rounded(keys);
    cpu::product({pair.q + first * pair.stride, pair.stride, false}, keys_turned, weights, stride,
                 rows, keys, s.head_width, false);
    cpu::attention_weights({weights, log_sums + first, rows, keys, stride, first, s.length, scale},
                           rows);
    cpu::product({weights, stride, false}, {pair.v, pair.stride, false}, y + first * s.width,
                 s.width, rows, s.head_width, keys, false, scratch_);
  }
}

void CpuSequenceOps::attention(ConstTensorView qkv, std::size_t heads, TensorView y,
                               TensorView log_sums) {
  const AttentionShape s(qkv, heads);
  for (std::size_t pair = 0; pair < s.batch * heads; ++pair) {
    const std::size_t row = pair / heads * s.length;
    const std::size_t head = pair % heads * s.head_width;
    const float* q = qkv.as<float>() + row * 3 * s.width + head;
    if (pair + 1 < s.batch * heads && (pair + 1) % heads != 0) {
      for (const std::size_t part : {0, 1, 2}) {
        fetch_rows(q + part * s.width + s.head_width, 3 * s.width, s.length, s.head_width);
      }
    }
    attend(s, {q, q + s.width, q + 2 * s.width, 3 * s.width}, y.as<float>() + row * s.width + head,
           log_sums.as<float>() + pair * s.length);
  }
}

void CpuSequenceOps::attend_backward(const AttentionShape& s, const Pair& pair, const float* y,
                                     const float* log_sums, const float* dy, float* dq) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(s.head_width));
  float* weights = tile(2 * kTile * rounded(s.length));
  float* dweights = weights + kTile * rounded(s.length);
  auto& keys_turned = packed_[0];
  auto& values_turned = packed_[1];
  keys_turned.pack({pair.k, pair.stride, true}, s.head_width, s.length);
  values_turned.pack({pair.v, pair.stride, true}, s.head_width, s.length);
  // From the last tile, which sees all keys and so puts their gradients; the others add.
  for (std::size_t end = s.length; end > 0;) {
    const std::size_t first = (end - 1) / kTile * kTile;
    const std::size_t rows = end - first;
    const std::size_t stride = rounded(end);
    const bool add = end < s.length;
    const float* tile_q = pair.q + first * pair.stride;
    const float* tile_dy = dy + first * s.width;
    cpu::product({tile_q, pair.stride, false}, keys_turned, weights, stride, rows, end,
                 s.head_width, false);
    cpu::product({tile_dy, s.width, false}, values_turned, dweights, stride, rows, end,
                 s.head_width, false);
    cpu::attention_weights_backward(
        {weights, dweights, log_sums + first, y + first * s.width, tile_dy, rows, end, stride,
         first, s.length, s.head_width, s.width, scale},
        rows);
    cpu::product({dweights, stride, false}, {pair.k, pair.stride, false}, dq + first * pair.stride,
                 pair.stride, rows, s.head_width, end, false, scratch_);
    cpu::product({dweights, stride, true}, {tile_q, pair.stride, false}, dq + s.width, pair.stride,
                 end, s.head_width, rows, add, scratch_);
    cpu::product({weights, stride, true}, {tile_dy, s.width, false}, dq + 2 * s.width, pair.stride,
                 end, s.head_width, rows, add, scratch_);
    end = first;
  }
}

void CpuSequenceOps::attention_backward(ConstTensorView qkv, std::size_t heads, ConstTensorView y,
                                        ConstTensorView log_sums, ConstTensorView dy,
                                        TensorView dqkv) {
  const AttentionShape s(qkv, heads);
  for (std::size_t pair = 0; pair < s.batch * heads; ++pair) {
    const std::size_t row = pair / heads * s.length;
    const std::size_t head = pair % heads * s.head_width;
    const std::size_t at = row * s.width + head;
    const float* q = qkv.as<float>() + row * 3 * s.width + head;
    if (pair + 1 < s.batch * heads && (pair + 1) % heads != 0) {
      for (const std::size_t part : {0, 1, 2}) {
        fetch_rows(q + part * s.width + s.head_width, 3 * s.width, s.length, s.head_width);
      }
      fetch_rows(dy.as<float>() + at + s.head_width, s.width, s.length, s.head_width);
    }
    attend_backward(s, {q, q + s.width, q + 2 * s.width, 3 * s.width}, y.as<float>() + at,
                    log_sums.as<float>() + pair * s.length, dy.as<float>() + at,
                    dqkv.as<float>() + row * 3 * s.width + head);
  }
}

void CpuSequenceOps::lstm(const LstmForward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_forward(kernels::lstm_cell<float>(run), count,
                       multiply_by(run.weight, true, count, packed_[0]), kStart);
}

void CpuSequenceOps::lstm_backward(const LstmBackward& run) {
  const std::size_t count = sequences(run.c);
  kernels::run_backward(kernels::lstm_cell<float>(run), ConstTensorView(run.dgates).as<float>(), 4,
                        count, multiply_by(run.weight, false, count, packed_[0]), kStart);
}

void CpuSequenceOps::gru(const GruForward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_forward(kernels::gru_cell<float>(run), run.recurrent.as<float>(), count,
                       multiply_by(run.weight, true, count, packed_[0]), kStart);
}

void CpuSequenceOps::gru_backward(const GruBackward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_backward(kernels::gru_cell<float>(run), ConstTensorView(run.drecurrent).as<float>(),
                        3, count, multiply_by(run.weight, false, count, packed_[0]), kStart);
}

void CpuSequenceOps::shift_time(ConstTensorView x, TensorView y) {
  const std::size_t sequence = static_cast<std::size_t>(x.shape[1]) * x.cols();
  for (std::size_t first = 0; first < x.elements(); first += sequence) {
    float* out = std::fill_n(y.as<float>() + first, x.cols(), 0.0F);
    std::copy_n(x.as<float>() + first, sequence - x.cols(), out);
  }
}

}  // namespace shoal::ops
