#include "ops/cpu/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/recurrent.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "ops/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

#define SHOAL_RULE HWY_ATTR HWY_INLINE
#include "ops/kernels/recurrent_rules.inc"
#undef SHOAL_RULE

using Bias = kernels::CellBias<float>;

template <typename D>
HWY_ATTR HWY_INLINE hn::Vec<D> load_or_zero(D d, bool there, const float* x) {
  return there ? hn::LoadU(d, x) : hn::Zero(d);
}

/// As CellBias::onto.
template <typename D>
HWY_ATTR HWY_INLINE hn::Vec<D> onto(D d, const Bias& bias, hn::Vec<D> x, std::size_t i) {
  if (bias.input == nullptr) {
    return x;
  }
  return hn::Add(hn::Add(x, hn::LoadU(d, bias.input + i)), hn::LoadU(d, bias.hidden + i));
}

/// Asks for the lanes at `j` of the next sequence's gates while this one's are worked on: sequences
/// lie pages apart, which the machine does not foresee.
HWY_ATTR HWY_INLINE void fetch_gates(const float* gate, std::size_t gates, std::size_t hidden) {
  for (std::size_t i = 0; i < gates; ++i) {
    hwy::Prefetch(gate + i * hidden);
  }
}

HWY_ATTR void lstm_all(std::size_t count, const kernels::LstmCell<float>& cell) {
  const std::size_t hidden = cell.hidden;
  const std::size_t rows = count / hidden;
  for (std::size_t n = 0; n < rows; ++n) {
    const std::size_t row = n * cell.length + cell.step;
    float* gate = cell.gates + row * 4 * hidden;
    float* c = cell.c + row * hidden;
    float* h = cell.h + row * hidden;
    for_each_lane(0, hidden, [&](auto d, std::size_t j) HWY_ATTR {
      float* at = gate + j;
      if (n + 1 < rows) {
        fetch_gates(at + cell.length * 4 * hidden, 4, hidden);
        hwy::Prefetch(c + cell.length * hidden + j);
        hwy::Prefetch(h + cell.length * hidden + j);
      }
      auto i = onto(d, cell.bias, hn::LoadU(d, at), j);
      auto f = onto(d, cell.bias, hn::LoadU(d, at + hidden), hidden + j);
      auto g = onto(d, cell.bias, hn::LoadU(d, at + 2 * hidden), 2 * hidden + j);
      auto o = onto(d, cell.bias, hn::LoadU(d, at + 3 * hidden), 3 * hidden + j);
      auto state = load_or_zero(d, cell.step > 0, c + j - (cell.step > 0 ? hidden : 0));
      auto out = state;
      lstm_rule(LaneMath<decltype(d)>{d}, i, f, g, o, state, out);
      hn::StoreU(i, d, at);
      hn::StoreU(f, d, at + hidden);
      hn::StoreU(g, d, at + 2 * hidden);
      hn::StoreU(o, d, at + 3 * hidden);
      hn::StoreU(state, d, c + j);
      hn::StoreU(out, d, h + j);
    });
  }
}

HWY_ATTR void lstm_backward_all(std::size_t count, const kernels::LstmCellBackward<float>& cell) {
  const std::size_t hidden = cell.hidden;
  const bool last = cell.step + 1 == cell.length;
  const std::size_t rows = count / hidden;
  for (std::size_t n = 0; n < rows; ++n) {
    const std::size_t row = n * cell.length + cell.step;
    const float* gate = cell.gates + row * 4 * hidden;
    float* dgate = cell.dgates + row * 4 * hidden;
    const float* c = cell.c + row * hidden;
    const float* dh = cell.dh + row * hidden;
    float* carry_h = cell.carry_h + n * hidden;
    float* carry_c = cell.carry_c + n * hidden;
    for_each_lane(0, hidden, [&](auto d, std::size_t j) HWY_ATTR {
      if (n + 1 < rows) {
        fetch_gates(gate + cell.length * 4 * hidden + j, 4, hidden);
        fetch_gates(dgate + cell.length * 4 * hidden + j, 4, hidden);
        hwy::Prefetch(c + cell.length * hidden + j);
        hwy::Prefetch(dh + cell.length * hidden + j);
      }
      auto i = hn::LoadU(d, gate + j);
      auto f = hn::LoadU(d, gate + hidden + j);
      auto g = hn::LoadU(d, gate + 2 * hidden + j);
      auto o = hn::LoadU(d, gate + 3 * hidden + j);
      auto slope = hn::LoadU(d, dh + j);
      if (!last) {
        slope = hn::Add(slope, hn::LoadU(d, carry_h + j));
      }
      auto dc = load_or_zero(d, !last, carry_c + j);
      const auto before = load_or_zero(d, cell.step > 0, c + j - (cell.step > 0 ? hidden : 0));
      lstm_backward_rule(LaneMath<decltype(d)>{d}, i, f, g, o, hn::LoadU(d, c + j), before, slope,
                         dc);
      hn::StoreU(dc, d, carry_c + j);
      hn::StoreU(i, d, dgate + j);
      hn::StoreU(f, d, dgate + hidden + j);
      hn::StoreU(g, d, dgate + 2 * hidden + j);
      hn::StoreU(o, d, dgate + 3 * hidden + j);
    });
  }
}

HWY_ATTR void gru_all(std::size_t count, const kernels::GruCell<float>& cell) {
  const std::size_t hidden = cell.hidden;
  const bool later = cell.step > 0;
  for (std::size_t n = 0; n < count / hidden; ++n) {
    const std::size_t row = n * cell.length + cell.step;
    float* gate = cell.gates + row * 3 * hidden;
    const float* rec = cell.recurrent + n * 3 * hidden;
    float* h = cell.h + row * hidden;
    float* hidden_n = cell.hidden_n + row * hidden;
    for_each_lane(0, hidden, [&](auto d, std::size_t j) HWY_ATTR {
      auto r = hn::LoadU(d, gate + j);
      auto z = hn::LoadU(d, gate + hidden + j);
      auto n_gate = hn::LoadU(d, gate + 2 * hidden + j);
      if (later) {
        r = hn::Add(r, hn::LoadU(d, rec + j));
        z = hn::Add(z, hn::LoadU(d, rec + hidden + j));
      }
      auto hn_sum = load_or_zero(d, later, rec + 2 * hidden + j);
      r = onto(d, cell.bias, r, j);
      z = onto(d, cell.bias, z, hidden + j);
      if (cell.bias.input != nullptr) {
        n_gate = hn::Add(n_gate, hn::LoadU(d, cell.bias.input + 2 * hidden + j));
        hn_sum = hn::Add(hn_sum, hn::LoadU(d, cell.bias.hidden + 2 * hidden + j));
      }
      auto state = load_or_zero(d, later, h + j - (later ? hidden : 0));
      gru_rule(LaneMath<decltype(d)>{d}, r, z, n_gate, hn_sum, state);
      hn::StoreU(state, d, h + j);
      hn::StoreU(hn_sum, d, hidden_n + j);
      hn::StoreU(r, d, gate + j);
      hn::StoreU(z, d, gate + hidden + j);
      hn::StoreU(n_gate, d, gate + 2 * hidden + j);
    });
  }
}

HWY_ATTR void gru_backward_all(std::size_t count, const kernels::GruCellBackward<float>& cell) {
  const std::size_t hidden = cell.hidden;
  const bool last = cell.step + 1 == cell.length;
  for (std::size_t n = 0; n < count / hidden; ++n) {
    const std::size_t row = n * cell.length + cell.step;
    const float* gate = cell.gates + row * 3 * hidden;
    float* dgate = cell.dgates + row * 3 * hidden;
    float* drec = cell.drecurrent + row * 3 * hidden;
    const float* h = cell.h + row * hidden;
    for_each_lane(0, hidden, [&](auto d, std::size_t j) HWY_ATTR {
      auto r = hn::LoadU(d, gate + j);
      auto z = hn::LoadU(d, gate + hidden + j);
      auto n_gate = hn::LoadU(d, gate + 2 * hidden + j);
      auto dhn = hn::Zero(d);
      auto slope = hn::LoadU(d, cell.dh + row * hidden + j);
      if (!last) {
        slope = hn::Add(slope, hn::Add(hn::LoadU(d, cell.carry_h + n * hidden + j),
                                       hn::LoadU(d, cell.carry_past + n * hidden + j)));
      }
      const auto before = load_or_zero(d, cell.step > 0, h + j - (cell.step > 0 ? hidden : 0));
      gru_backward_rule(LaneMath<decltype(d)>{d}, r, z, n_gate, dhn,
                        hn::LoadU(d, cell.hidden_n + row * hidden + j), before, slope);
      hn::StoreU(slope, d, cell.carry_past + n * hidden + j);
      hn::StoreU(r, d, dgate + j);
      hn::StoreU(z, d, dgate + hidden + j);
      hn::StoreU(n_gate, d, dgate + 2 * hidden + j);
      hn::StoreU(r, d, drec + j);
      hn::StoreU(z, d, drec + hidden + j);
      hn::StoreU(dhn, d, drec + 2 * hidden + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(lstm_all);
HWY_EXPORT(lstm_backward_all);
HWY_EXPORT(gru_all);
HWY_EXPORT(gru_backward_all);

void run_cells(std::size_t count, const kernels::LstmCell<float>& cell) {
  HWY_DYNAMIC_DISPATCH(lstm_all)(count, cell);
}

void run_cells(std::size_t count, const kernels::LstmCellBackward<float>& cell) {
  HWY_DYNAMIC_DISPATCH(lstm_backward_all)(count, cell);
}

void run_cells(std::size_t count, const kernels::GruCell<float>& cell) {
  HWY_DYNAMIC_DISPATCH(gru_all)(count, cell);
}

void run_cells(std::size_t count, const kernels::GruCellBackward<float>& cell) {
  HWY_DYNAMIC_DISPATCH(gru_backward_all)(count, cell);
}

}  // namespace shoal::ops::cpu
#endif
