#include "ops/reference/host_sequence.h"

#include <algorithm>
#include <cmath>

#include "ops/device/attention_shape.h"
#include "ops/device/recurrent_cells.h"
#include "ops/kernels/attention.h"
#include "ops/kernels/embedding.h"
#include "ops/reference/plain_product.h"

namespace shoal::ops {
namespace {

/// N rows times the recurrent weight [gates H, H], transposed on the way forward.
template <typename T>
auto multiply_by(const ConstTensorView& weight, bool forward, std::size_t rows) {
  const std::size_t wide = weight.rows();
  const std::size_t hidden = weight.cols();
  const T* w = weight.as<T>();
  return [=](const T* a, std::size_t a_stride, T* c, std::size_t c_stride, bool add) {
    plain_product<T>({a, a_stride}, {w, hidden, forward}, c, c_stride, rows,
                     forward ? wide : hidden, forward ? hidden : wide, add);
  };
}

constexpr auto kStart = [](std::size_t count, const auto& cell) {
  kernels::for_each_index(count, cell);
};

std::size_t sequences(const ConstTensorView& view) {
  return static_cast<std::size_t>(view.shape[0]);
}

}  // namespace

template <typename T>
void HostSequenceOps<T>::embed(ConstTensorView tokens, ConstTensorView weight, TensorView y) {
  kernels::for_each_index(y.elements(), kernels::Embed<T>{tokens.as<std::int32_t>(), weight.as<T>(),
                                                          y.as<T>(), weight.cols()});
}

template <typename T>
void HostSequenceOps<T>::embed_backward(ConstTensorView tokens, ConstTensorView dy,
                                        TensorView dweight, Into into) {
  if (into == Into::kReplace) {
    std::fill_n(dweight.as<T>(), dweight.elements(), T(0));
  }
  kernels::for_each_index(dweight.cols(), kernels::EmbedBackward<T>{
                                              tokens.as<std::int32_t>(), dy.as<T>(),
                                              dweight.as<T>(), tokens.elements(), dweight.cols()});
}

template <typename T>
void HostSequenceOps<T>::attention(ConstTensorView qkv, std::size_t heads, TensorView y,
                                   TensorView log_sums) {
  const AttentionShape s(qkv, heads);
  const T scale = T(1) / std::sqrt(static_cast<T>(s.head_width));
  tile_.resize(kernels::kAttentionTile * s.length);
  for (std::size_t pair = 0; pair < s.batch * heads; ++pair) {
    const std::size_t row = pair / heads * s.length;
    const T* q = qkv.as<T>() + row * 3 * s.width + pair % heads * s.head_width;
    T* out = y.as<T>() + row * s.width + pair % heads * s.head_width;
    for (std::size_t first = 0; first < s.length; first += kernels::kAttentionTile) {
      const std::size_t rows = std::min(kernels::kAttentionTile, s.length - first);
      const std::size_t keys = first + rows;
      plain_product<T>({q + first * 3 * s.width, 3 * s.width}, {q + s.width, 3 * s.width, true},
                       tile_.data(), keys, rows, keys, s.head_width, false);
      kernels::for_each_index(rows, kernels::AttentionWeights<T>{
                                        tile_.data(), log_sums.as<T>() + pair * s.length + first,
                                        rows, keys, keys, first, s.length, scale});
      plain_product<T>({tile_.data(), keys}, {q + 2 * s.width, 3 * s.width}, out + first * s.width,
                       s.width, rows, s.head_width, keys, false);
    }
  }
}

template <typename T>
void HostSequenceOps<T>::attention_backward(ConstTensorView qkv, std::size_t heads,
                                            ConstTensorView y, ConstTensorView log_sums,
                                            ConstTensorView dy, TensorView dqkv) {
  const AttentionShape s(qkv, heads);
  const T scale = T(1) / std::sqrt(static_cast<T>(s.head_width));
  const std::size_t wide = 3 * s.width;
  tile_.resize(2 * kernels::kAttentionTile * s.length);
  std::fill_n(dqkv.as<T>(), dqkv.elements(), T(0));
  for (std::size_t pair = 0; pair < s.batch * heads; ++pair) {
    const std::size_t row = pair / heads * s.length;
    const std::size_t head = pair % heads * s.head_width;
    const T* q = qkv.as<T>() + row * wide + head;
    T* dq = dqkv.as<T>() + row * wide + head;
    for (std::size_t first = 0; first < s.length; first += kernels::kAttentionTile) {
      const std::size_t rows = std::min(kernels::kAttentionTile, s.length - first);
      const std::size_t keys = first + rows;
      const std::size_t at = (row + first) * s.width + head;
      const T* dout = dy.as<T>() + at;
      T* weights = tile_.data();
      T* dweights = tile_.data() + rows * keys;
      plain_product<T>({q + first * wide, wide}, {q + s.width, wide, true}, weights, keys, rows,
                       keys, s.head_width, false);
      plain_product<T>({dout, s.width}, {q + 2 * s.width, wide, true}, dweights, keys, rows, keys,
                       s.head_width, false);
      kernels::for_each_index(
          rows, kernels::AttentionWeightsBackward<T>{
                    weights, dweights, log_sums.as<T>() + pair * s.length + first, y.as<T>() + at,
                    dout, rows, keys, keys, first, s.length, s.head_width, s.width, scale});
      plain_product<T>({dweights, keys}, {q + s.width, wide}, dq + first * wide, wide, rows,
                       s.head_width, keys, false);
      plain_product<T>({dweights, keys, true}, {q + first * wide, wide}, dq + s.width, wide, keys,
                       s.head_width, rows, true);
      plain_product<T>({weights, keys, true}, {dout, s.width}, dq + 2 * s.width, wide, keys,
                       s.head_width, rows, true);
    }
  }
}

template <typename T>
void HostSequenceOps<T>::lstm(const LstmForward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_forward(kernels::lstm_cell<T>(run), count, multiply_by<T>(run.weight, true, count),
                       kStart);
}

template <typename T>
void HostSequenceOps<T>::lstm_backward(const LstmBackward& run) {
  const std::size_t count = sequences(run.c);
  kernels::run_backward(kernels::lstm_cell<T>(run), ConstTensorView(run.dgates).as<T>(), 4, count,
                        multiply_by<T>(run.weight, false, count), kStart);
}

template <typename T>
void HostSequenceOps<T>::gru(const GruForward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_forward(kernels::gru_cell<T>(run), run.recurrent.as<T>(), count,
                       multiply_by<T>(run.weight, true, count), kStart);
}

template <typename T>
void HostSequenceOps<T>::gru_backward(const GruBackward& run) {
  const std::size_t count = sequences(run.h);
  kernels::run_backward(kernels::gru_cell<T>(run), ConstTensorView(run.drecurrent).as<T>(), 3,
                        count, multiply_by<T>(run.weight, false, count), kStart);
}

template <typename T>
void HostSequenceOps<T>::shift_time(ConstTensorView x, TensorView y) {
  kernels::for_each_index(
      x.elements(),
      kernels::ShiftTime<T>{x.as<T>(), y.as<T>(), static_cast<std::size_t>(x.shape[1]), x.cols()});
}

template class HostSequenceOps<float>;
template class HostSequenceOps<double>;

}  // namespace shoal::ops
