#pragma once

#include <cstddef>

#include "ops/device/types.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// The recurrent part of an LSTM over a batch of sequences. Gates stand in the order i, f, g, o.
/// Shapes: gates [N, T, 4H], weight [4H, H], bias_input, bias_hidden [4H] (or both empty),
/// h, c [N, T, H].
struct LstmForward {
  TensorView gates;  ///< in: x W_ih^T; out: the gates after their nonlinearities
  ConstTensorView weight;
  ConstTensorView bias_input;
  ConstTensorView bias_hidden;
  TensorView h;
  TensorView c;
};

/// Shapes: as LstmForward; dh [N, T, H], dgates [N, T, 4H], carry [2, N, H] of any contents.
struct LstmBackward {
  ConstTensorView gates;
  ConstTensorView weight;
  ConstTensorView c;
  ConstTensorView dh;  ///< of the whole output
  TensorView dgates;   ///< out: of the sums that the nonlinearities were given
  TensorView carry;
};

/// The recurrent part of a GRU. Gates stand in the order r, z, n, and
/// n = tanh(x W_in^T + b_in + r (h W_hn^T + b_hn)), as in PyTorch.
/// Shapes: gates [N, T, 3H], weight [3H, H], bias_input, bias_hidden [3H] (or both empty),
/// h, hidden_n [N, T, H], recurrent [N, 3H] of any contents.
struct GruForward {
  TensorView gates;  ///< in: x W_ih^T; out: the gates after their nonlinearities
  ConstTensorView weight;
  ConstTensorView bias_input;
  ConstTensorView bias_hidden;
  TensorView h;
  TensorView hidden_n;  ///< out: h W_hn^T + b_hn
  TensorView recurrent;
};

/// Shapes: as GruForward; dh [N, T, H], dgates, drecurrent [N, T, 3H], carry [2, N, H].
struct GruBackward {
  ConstTensorView gates;
  ConstTensorView weight;
  ConstTensorView h;
  ConstTensorView hidden_n;
  ConstTensorView dh;
  TensorView dgates;      ///< out: of x W_ih^T + b_ih
  TensorView drecurrent;  ///< out: of h W_hh^T + b_hh
  TensorView carry;
};

/// What layers over sequences need.
class SequenceOps : public virtual DeviceOps {
 public:
  /// y = rows of `weight` by index. Shapes: tokens [...] i32 in [0, V) (judged by the caller),
  /// weight [V, D], y [..., D].
  virtual void embed(ConstTensorView tokens, ConstTensorView weight, TensorView y) = 0;
  /// dweight (+)= sums of rows of dy by index, in the order of the tokens.
  virtual void embed_backward(ConstTensorView tokens, ConstTensorView dy, TensorView dweight,
                              Into into) = 0;

  /// Scaled dot-product attention, D = heads * d: per head softmax(q k^T / sqrt(d)) v, where a
  /// place sees itself and what comes before. Memory beyond these is linear in T. Shapes: qkv [N,
  /// T, 3D] (q, k and v side by side, heads within each), y [N, T, D], log_sums [N, heads, T]: the
  /// logarithm of the sum that each row of weights was divided by. Source: Dao et al., arXiv
  /// 2205.14135, for computing weights again from log_sums.
  virtual void attention(ConstTensorView qkv, std::size_t heads, TensorView y,
                         TensorView log_sums) = 0;
  /// Shapes: as above; dy as y, dqkv as qkv.
  virtual void attention_backward(ConstTensorView qkv, std::size_t heads, ConstTensorView y,
                                  ConstTensorView log_sums, ConstTensorView dy,
                                  TensorView dqkv) = 0;

  virtual void lstm(const LstmForward& run) = 0;
  virtual void lstm_backward(const LstmBackward& run) = 0;
  virtual void gru(const GruForward& run) = 0;
  virtual void gru_backward(const GruBackward& run) = 0;
  /// y[:, t] = x[:, t - 1], and y[:, 0] = 0. Shapes: x, y [N, T, H].
  virtual void shift_time(ConstTensorView x, TensorView y) = 0;
};

}  // namespace shoal::ops
