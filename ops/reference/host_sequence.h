#pragma once

#include <vector>

#include "ops/device/sequence_ops.h"

namespace shoal::ops {

/// SequenceOps as plain loops over the kernel bodies.
template <typename T>
class HostSequenceOps : public virtual SequenceOps {
 public:
  void embed(ConstTensorView tokens, ConstTensorView weight, TensorView y) override;
  void embed_backward(ConstTensorView tokens, ConstTensorView dy, TensorView dweight,
                      Into into) override;
  void attention(ConstTensorView qkv, std::size_t heads, TensorView y,
                 TensorView log_sums) override;
  void attention_backward(ConstTensorView qkv, std::size_t heads, ConstTensorView y,
                          ConstTensorView log_sums, ConstTensorView dy, TensorView dqkv) override;
  void lstm(const LstmForward& run) override;
  void lstm_backward(const LstmBackward& run) override;
  void gru(const GruForward& run) override;
  void gru_backward(const GruBackward& run) override;
  void shift_time(ConstTensorView x, TensorView y) override;

 private:
  std::vector<T> tile_;  // weights of a tile of attention, and their gradients
};

extern template class HostSequenceOps<float>;
extern template class HostSequenceOps<double>;

}  // namespace shoal::ops
