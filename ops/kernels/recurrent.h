#pragma once

#include <cstddef>

#include "ops/kernels/activation.h"
#include "ops/kernels/hd.h"

/// Cells of recurrent layers: one step in time, one index for each hidden unit of each sequence.
/// Rows of arrays [N, length, ...] are found as (sequence * length + step).
namespace shoal::ops::kernels {

#define SHOAL_RULE SHOAL_HD
#include "ops/kernels/recurrent_rules.inc"
#undef SHOAL_RULE

/// The two biases of the gates, both or none.
template <typename T>
struct CellBias {
  const T* input;
  const T* hidden;
  SHOAL_HD T onto(T x, std::size_t i) const {
    return input == nullptr ? x : (x + input[i]) + hidden[i];
  }
};

/// Where one hidden unit of one sequence lies at a step: its place in a row of hidden units, the
/// row of arrays [N, length, ...], the element of arrays [N, length, hidden].
struct CellPlace {
  std::size_t unit;
  std::size_t row;
  std::size_t at;
  SHOAL_HD CellPlace(std::size_t index, std::size_t hidden, std::size_t length, std::size_t step)
      : unit(index % hidden), row(index / hidden * length + step), at(row * hidden + unit) {}
};

/// Gates hold the sums of both products; they become the gates, and h and c of the step.
template <typename T>
struct LstmCell {
  T* gates;
  CellBias<T> bias;
  T* h;
  T* c;
  std::size_t length;
  std::size_t hidden;
  std::size_t step;

  SHOAL_HD void operator()(std::size_t index) const {
    const auto [j, row, at] = CellPlace(index, hidden, length, step);
    T* gate = gates + row * 4 * hidden + j;
    T i = bias.onto(gate[0], j);
    T f = bias.onto(gate[hidden], hidden + j);
    T g = bias.onto(gate[2 * hidden], 2 * hidden + j);
    T o = bias.onto(gate[3 * hidden], 3 * hidden + j);
    T cell = step == 0 ? T(0) : c[at - hidden];
    lstm_rule(PlainMath<T>(), i, f, g, o, cell, h[at]);
    c[at] = cell;
    gate[0] = i;
    gate[hidden] = f;
    gate[2 * hidden] = g;
    gate[3 * hidden] = o;
  }
};

/// carry_h holds what the step after gave h (the product of its dgates), carry_c what it gave c;
/// neither is read at the last step.
template <typename T>
struct LstmCellBackward {
  const T* gates;
  const T* c;
  const T* dh;
  T* dgates;
  T* carry_h;
  T* carry_c;
  std::size_t length;
  std::size_t hidden;
  std::size_t step;

  SHOAL_HD void operator()(std::size_t index) const {
    const auto [j, row, at] = CellPlace(index, hidden, length, step);
    const bool last = step + 1 == length;
    const T* gate = gates + row * 4 * hidden + j;
    T i = gate[0];
    T f = gate[hidden];
    T g = gate[2 * hidden];
    T o = gate[3 * hidden];
    T dc = last ? T(0) : carry_c[index];
    lstm_backward_rule(PlainMath<T>(), i, f, g, o, c[at], step == 0 ? T(0) : c[at - hidden],
                       last ? dh[at] : dh[at] + carry_h[index], dc);
    carry_c[index] = dc;
    T* dgate = dgates + row * 4 * hidden + j;
    dgate[0] = i;
    dgate[hidden] = f;
    dgate[2 * hidden] = g;
    dgate[3 * hidden] = o;
  }
};

/// Gates hold the input's product, `recurrent` [N, 3 hidden] that of h of the step before (not read
/// at step 0, where h before is 0).
template <typename T>
struct GruCell {
  T* gates;
  CellBias<T> bias;
  const T* recurrent;
  T* h;
  T* hidden_n;
  std::size_t length;
  std::size_t hidden;
  std::size_t step;

  SHOAL_HD void operator()(std::size_t index) const {
    const auto [j, row, at] = CellPlace(index, hidden, length, step);
    const bool first = step == 0;
    T* gate = gates + row * 3 * hidden + j;
    const T* rec = recurrent + index / hidden * 3 * hidden + j;
    T r = bias.onto(first ? gate[0] : gate[0] + rec[0], j);
    T z = bias.onto(first ? gate[hidden] : gate[hidden] + rec[hidden], hidden + j);
    T n = gate[2 * hidden];
    T hn = first ? T(0) : rec[2 * hidden];
    if (bias.input != nullptr) {
      n = n + bias.input[2 * hidden + j];
      hn = hn + bias.hidden[2 * hidden + j];
    }
    T state = first ? T(0) : h[at - hidden];
    gru_rule(PlainMath<T>(), r, z, n, hn, state);
    h[at] = state;
    hidden_n[at] = hn;
    gate[0] = r;
    gate[hidden] = z;
    gate[2 * hidden] = n;
  }
};

/// carry_h holds the product of the next step's drecurrent, carry_past what went past its gates.
template <typename T>
struct GruCellBackward {
  const T* gates;
  const T* h;
  const T* hidden_n;
  const T* dh;
  T* dgates;
  T* drecurrent;
  T* carry_h;
  T* carry_past;
  std::size_t length;
  std::size_t hidden;
  std::size_t step;

  SHOAL_HD void operator()(std::size_t index) const {
    const auto [j, row, at] = CellPlace(index, hidden, length, step);
    const T* gate = gates + row * 3 * hidden + j;
    T r = gate[0];
    T z = gate[hidden];
    T n = gate[2 * hidden];
    T dhn = T(0);
    T slope = step + 1 == length ? dh[at] : dh[at] + (carry_h[index] + carry_past[index]);
    gru_backward_rule(PlainMath<T>(), r, z, n, dhn, hidden_n[at], step == 0 ? T(0) : h[at - hidden],
                      slope);
    carry_past[index] = slope;
    T* dgate = dgates + row * 3 * hidden + j;
    dgate[0] = r;
    dgate[hidden] = z;
    dgate[2 * hidden] = n;
    T* drec = drecurrent + row * 3 * hidden + j;
    drec[0] = r;
    drec[hidden] = z;
    drec[2 * hidden] = dhn;
  }
};

/// Through time on any device: multiply(a, a_stride, c, c_stride, add) is the product of N rows
/// with the recurrent weight, start(count, cell) runs a cell. Products of a step go to `sums`,
/// which moves on by `per_step`; its rows lie `stride` apart.
template <typename Cell, typename T, typename Multiply, typename Start>
void run_forward(Cell cell, T* sums, std::size_t per_step, std::size_t stride, bool add,
                 std::size_t count, const Multiply& multiply, const Start& start) {
  for (cell.step = 0; cell.step < cell.length; ++cell.step) {
    if (cell.step > 0) {
      multiply(cell.h + (cell.step - 1) * cell.hidden, cell.length * cell.hidden,
               sums + cell.step * per_step, stride, add);
    }
    start(count * cell.hidden, cell);
  }
}

template <typename T, typename Multiply, typename Start>
void run_forward(const LstmCell<T>& cell, std::size_t count, const Multiply& multiply,
                 const Start& start) {
  const std::size_t wide = 4 * cell.hidden;
  run_forward(cell, cell.gates, wide, cell.length * wide, true, count, multiply, start);
}

template <typename T, typename Multiply, typename Start>
void run_forward(GruCell<T> cell, T* recurrent, std::size_t count, const Multiply& multiply,
                 const Start& start) {
  cell.recurrent = recurrent;
  run_forward(cell, recurrent, 0, 3 * cell.hidden, false, count, multiply, start);
}

/// `dgates` are those that the recurrent product led to, `gates` their number.
template <typename T, typename Cell, typename Multiply, typename Start>
void run_backward(Cell cell, const T* dgates, std::size_t gates, std::size_t count,
                  const Multiply& multiply, const Start& start) {
  const std::size_t wide = gates * cell.hidden;
  for (std::size_t step = cell.length; step-- > 0;) {
    cell.step = step;
    if (step + 1 < cell.length) {
      multiply(dgates + (step + 1) * wide, cell.length * wide, cell.carry_h, cell.hidden, false);
    }
    start(count * cell.hidden, cell);
  }
}

}  // namespace shoal::ops::kernels
