#pragma once

#include "ops/device/sequence_ops.h"
#include "ops/kernels/recurrent.h"

/// Cells of the views that an operation was given.
namespace shoal::ops::kernels {

template <typename T>
CellBias<T> cell_bias(const ConstTensorView& input, const ConstTensorView& hidden) {
  return {input.as_or_null<T>(), hidden.as_or_null<T>()};
}

template <typename T>
LstmCell<T> lstm_cell(const LstmForward& run) {
  return {run.gates.as<T>(),
          cell_bias<T>(run.bias_input, run.bias_hidden),
          run.h.as<T>(),
          run.c.as<T>(),
          static_cast<std::size_t>(run.h.shape[1]),
          run.h.cols(),
          0};
}

template <typename T>
LstmCellBackward<T> lstm_cell(const LstmBackward& run) {
  T* carry = run.carry.as<T>();
  return {run.gates.as<T>(),
          run.c.as<T>(),
          run.dh.as<T>(),
          run.dgates.as<T>(),
          carry,
          carry + run.carry.elements() / 2,
          static_cast<std::size_t>(run.c.shape[1]),
          run.c.cols(),
          0};
}

template <typename T>
GruCell<T> gru_cell(const GruForward& run) {
  return {run.gates.as<T>(),     cell_bias<T>(run.bias_input, run.bias_hidden),
          run.recurrent.as<T>(), run.h.as<T>(),
          run.hidden_n.as<T>(),  static_cast<std::size_t>(run.h.shape[1]),
          run.h.cols(),          0};
}

template <typename T>
GruCellBackward<T> gru_cell(const GruBackward& run) {
  T* carry = run.carry.as<T>();
  return {run.gates.as<T>(),
          run.h.as<T>(),
          run.hidden_n.as<T>(),
          run.dh.as<T>(),
          run.dgates.as<T>(),
          run.drecurrent.as<T>(),
          carry,
          carry + run.carry.elements() / 2,
          static_cast<std::size_t>(run.h.shape[1]),
          run.h.cols(),
          0};
}

}  // namespace shoal::ops::kernels
