#pragma once

#include "ops/cuda/cuda_queue.h"
#include "ops/device/sequence_ops.h"

namespace shoal::ops {

/// SequenceOps through the rows of sequence_table.h.
class CudaSequenceOps : public virtual SequenceOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaSequenceOps(CudaQueue& queue) : queue_(queue) {}
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
  CudaQueue& queue_;
};

}  // namespace shoal::ops
