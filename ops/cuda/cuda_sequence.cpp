#include "ops/cuda/cuda_sequence.h"

#include "ops/device/attention_shape.h"

namespace shoal::ops {
namespace {

std::size_t dimension(const ConstTensorView& view, std::size_t i) {
  return static_cast<std::size_t>(view.shape[i]);
}

/// The library takes one struct for both ways; what is only read on the way back is not written.
float* unwritten(const ConstTensorView& view) { return const_cast<float*>(view.as<float>()); }

}  // namespace

void CudaSequenceOps::embed(ConstTensorView tokens, ConstTensorView weight, TensorView y) {
  queue_.note(queue_.table.sequence.embed(queue_.stream, tokens.as<std::int32_t>(),
                                          weight.as<float>(), y.as<float>(), tokens.elements(),
                                          weight.cols()));
}

void CudaSequenceOps::embed_backward(ConstTensorView tokens, ConstTensorView dy, TensorView dweight,
                                     Into into) {
  if (into == Into::kReplace) {
    queue_.note(queue_.table.zero(queue_.stream, dweight.data, dweight.bytes()));
  }
  queue_.note(queue_.table.sequence.embed_backward(queue_.stream, tokens.as<std::int32_t>(),
                                                   dy.as<float>(), dweight.as<float>(),
                                                   tokens.elements(), dweight.cols()));
}

void CudaSequenceOps::attention(ConstTensorView qkv, std::size_t heads, TensorView y,
                                TensorView log_sums) {
  const AttentionShape s(qkv, heads);
  const ShoalCudaAttention run = {qkv.as<float>(), y.as<float>(), log_sums.as<float>(),
                                  nullptr,         nullptr,       s.batch,
                                  s.length,        heads,         s.head_width};
  queue_.note(queue_.table.sequence.attention(queue_.stream, &run));
}

void CudaSequenceOps::attention_backward(ConstTensorView qkv, std::size_t heads, ConstTensorView y,
                                         ConstTensorView log_sums, ConstTensorView dy,
                                         TensorView dqkv) {
  const AttentionShape s(qkv, heads);
  const ShoalCudaAttention run = {
      qkv.as<float>(), unwritten(y), unwritten(log_sums), dy.as<float>(), dqkv.as<float>(), s.batch,
      s.length,        heads,        s.head_width};
  queue_.note(queue_.table.sequence.attention_backward(queue_.stream, &run));
}

void CudaSequenceOps::lstm(const LstmForward& r) {
  const ShoalCudaLstm run = {r.gates.as<float>(),
                             r.weight.as<float>(),
                             r.bias_input.as_or_null<float>(),
                             r.bias_hidden.as_or_null<float>(),
                             r.h.as<float>(),
                             r.c.as<float>(),
                             dimension(r.h, 0),
                             dimension(r.h, 1),
                             r.h.cols()};
  queue_.note(queue_.table.sequence.lstm(queue_.stream, &run));
}

void CudaSequenceOps::lstm_backward(const LstmBackward& r) {
  const ShoalCudaLstmBackward run = {r.gates.as<float>(), r.weight.as<float>(), r.c.as<float>(),
                                     r.dh.as<float>(),    r.dgates.as<float>(), r.carry.as<float>(),
                                     dimension(r.c, 0),   dimension(r.c, 1),    r.c.cols()};
  queue_.note(queue_.table.sequence.lstm_backward(queue_.stream, &run));
}

void CudaSequenceOps::gru(const GruForward& r) {
  const ShoalCudaGru run = {r.gates.as<float>(),
                            r.weight.as<float>(),
                            r.bias_input.as_or_null<float>(),
                            r.bias_hidden.as_or_null<float>(),
                            r.h.as<float>(),
                            r.hidden_n.as<float>(),
                            r.recurrent.as<float>(),
                            dimension(r.h, 0),
                            dimension(r.h, 1),
                            r.h.cols()};
  queue_.note(queue_.table.sequence.gru(queue_.stream, &run));
}

void CudaSequenceOps::gru_backward(const GruBackward& r) {
  const ShoalCudaGruBackward run = {r.gates.as<float>(),
                                    r.weight.as<float>(),
                                    r.h.as<float>(),
                                    r.hidden_n.as<float>(),
                                    r.dh.as<float>(),
                                    r.dgates.as<float>(),
                                    r.drecurrent.as<float>(),
                                    r.carry.as<float>(),
                                    dimension(r.h, 0),
                                    dimension(r.h, 1),
                                    r.h.cols()};
  queue_.note(queue_.table.sequence.gru_backward(queue_.stream, &run));
}

void CudaSequenceOps::shift_time(ConstTensorView x, TensorView y) {
  queue_.note(queue_.table.sequence.shift_time(queue_.stream, x.as<float>(), y.as<float>(),
                                               x.elements(), dimension(x, 1), x.cols()));
}

}  // namespace shoal::ops
