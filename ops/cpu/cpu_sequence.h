#pragma once

#include <cstddef>

#include "ops/cpu/attention.h"
#include "ops/cpu/product.h"
#include "ops/reference/host_sequence.h"

namespace shoal::ops {

/// SequenceOps with products of our own: the recurrent weight is packed once for all steps, and
/// attention reads q, k and v where they lie.
class CpuSequenceOps : public virtual HostSequenceOps<float> {
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
  cpu::PackedMatrix packed_;
  cpu::Attention attention_;
};

}  // namespace shoal::ops
