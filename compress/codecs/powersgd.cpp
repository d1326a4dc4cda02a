// Low rank with a warm start: a half-step of PowerSGD a round.
//
// A tensor is a matrix M [rows, cols], its first dimension by the rest. All peers share a basis B
// of `rank` orthonormal columns, on one side of it; what travels is the factor M B (or M^T B), as
// u8 side (1: the basis is of the column space), u8 rank, then f32 [rank, length]. It means factor
// B^T (or its mirror), M projected on the basis, which is linear in M. The factor of an answer,
// orthonormalised, is the next round's basis, on the other side. Tensors of one dimension travel as
// fp32 without a header.
//
// Products are sums in a fixed order, so that they are the same bits whatever the vector's length:
// along a row 16 partial sums, of every 16th product, then those in a tree; over rows one by one.
//
// Source: Vogels, Karimireddy, Jaggi, "PowerSGD", arXiv 1905.13727, algorithm 1; one product and
// one exchange a round, the sides in turn, as in the authors' later code. Error feedback is the
// Carry's.
#include "ops/cpu/fixed_width.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/powersgd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include <array>

#include "compress/lanes-inl.h"
#include "compress/power_state.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

constexpr std::size_t kSums = 16;  // partial sums of a product along a row
using Sums = hn::CappedTag<float, kSums>;

HWY_INLINE float tree_sum(std::array<float, kSums>& sums) {
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      sums[l] += sums[l + half];
    }
  }
  return sums[0];
}

using Rows4 = std::array<const float*, 4>;
using Dots = std::array<std::array<float, 2>, 4>;  // of a row and a column

/// out[r][c] = sum of a[r][j] * b_c[j]; of b1 only if there are two.
template <bool kTwo>
HWY_INLINE void dots(const Rows4& a, const float* b0, const float* b1, std::size_t count,
                     Dots& out) {
  const Sums lanes;
  const std::size_t step = hn::Lanes(lanes);
  const std::size_t whole = count - count % kSums;
  std::array<std::array<std::array<float, kSums>, 2>, 4> sums{};
  for (std::size_t l = 0; l < kSums; l += step) {
    auto s00 = hn::Zero(lanes), s10 = s00, s20 = s00, s30 = s00;
    auto s01 = s00, s11 = s00, s21 = s00, s31 = s00;
    for (std::size_t j = l; j < whole; j += kSums) {
      const auto a0 = hn::LoadU(lanes, a[0] + j);
      const auto a1 = hn::LoadU(lanes, a[1] + j);
      const auto a2 = hn::LoadU(lanes, a[2] + j);
      const auto a3 = hn::LoadU(lanes, a[3] + j);
      const auto x0 = hn::LoadU(lanes, b0 + j);
      s00 = hn::Add(s00, hn::Mul(a0, x0));
      s10 = hn::Add(s10, hn::Mul(a1, x0));
      s20 = hn::Add(s20, hn::Mul(a2, x0));
      s30 = hn::Add(s30, hn::Mul(a3, x0));
      if constexpr (kTwo) {
        const auto x1 = hn::LoadU(lanes, b1 + j);
        s01 = hn::Add(s01, hn::Mul(a0, x1));
        s11 = hn::Add(s11, hn::Mul(a1, x1));
        s21 = hn::Add(s21, hn::Mul(a2, x1));
        s31 = hn::Add(s31, hn::Mul(a3, x1));
      }
    }
    hn::StoreU(s00, lanes, sums[0][0].data() + l);
    hn::StoreU(s10, lanes, sums[1][0].data() + l);
    hn::StoreU(s20, lanes, sums[2][0].data() + l);
    hn::StoreU(s30, lanes, sums[3][0].data() + l);
    hn::StoreU(s01, lanes, sums[0][1].data() + l);
    hn::StoreU(s11, lanes, sums[1][1].data() + l);
    hn::StoreU(s21, lanes, sums[2][1].data() + l);
    hn::StoreU(s31, lanes, sums[3][1].data() + l);
  }
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < (kTwo ? 2 : 1); ++c) {
      for (std::size_t j = whole; j < count; ++j) {
        add_scaled(sums[r][c][j - whole], a[r][j], (c == 0 ? b0 : b1)[j]);
      }
      out[r][c] = tree_sum(sums[r][c]);
    }
  }
}

/// factor [rank, rows] = m [rows, cols] * basis [rank, cols] transposed.
void power_right(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                 std::size_t rank, float* factor) {
  Dots out{};
  for (std::size_t i = 0; i < rows; i += 4) {
    Rows4 a{};
    for (std::size_t r = 0; r < 4; ++r) {  // past the end the last one again
      a[r] = m + std::min(i + r, rows - 1) * cols;
    }
    for (std::size_t k = 0; k < rank; k += 2) {
      const bool two = k + 1 < rank;
      const float* const b = basis + k * cols;
      two ? dots<true>(a, b, b + cols, cols, out) : dots<false>(a, b, b, cols, out);
      for (std::size_t r = 0; r < 4 && i + r < rows; ++r) {
        factor[k * rows + i + r] = out[r][0];
        if (two) {
          factor[(k + 1) * rows + i + r] = out[r][1];
        }
      }
    }
  }
}

/// kColumns columns of a factor, each `cols` long, take in `count` rows of m: y_c[j] += m[i][j] *
/// b_c[i], where b_c begins `basis_length` behind the one before.
template <std::size_t kColumns>
HWY_INLINE void add_rows(const float* m, std::size_t count, std::size_t cols, const float* b,
                         std::size_t basis_length, float* y) {
  const Floats floats;
  const std::size_t step = hn::Lanes(floats);
  std::size_t j = 0;
  for (; j + 2 * step <= cols; j += 2 * step) {
    hn::Vec<Floats> low[kColumns];
    hn::Vec<Floats> high[kColumns];
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kColumns; ++c) {
      low[c] = hn::LoadU(floats, y + c * cols + j);
      high[c] = hn::LoadU(floats, y + c * cols + j + step);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto x0 = hn::LoadU(floats, m + i * cols + j);
      const auto x1 = hn::LoadU(floats, m + i * cols + j + step);
      HWY_UNROLL(4)
      for (std::size_t c = 0; c < kColumns; ++c) {
        const auto weight = hn::Set(floats, b[c * basis_length + i]);
        low[c] = hn::Add(low[c], hn::Mul(x0, weight));
        high[c] = hn::Add(high[c], hn::Mul(x1, weight));
      }
    }
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kColumns; ++c) {
      hn::StoreU(low[c], floats, y + c * cols + j);
      hn::StoreU(high[c], floats, y + c * cols + j + step);
    }
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    float* const column = y + c * cols;
    std::size_t k = j;
    for (; k + step <= cols; k += step) {
      auto sum = hn::LoadU(floats, column + k);
      for (std::size_t i = 0; i < count; ++i) {
        const auto weight = hn::Set(floats, b[c * basis_length + i]);
        sum = hn::Add(sum, hn::Mul(hn::LoadU(floats, m + i * cols + k), weight));
      }
      hn::StoreU(sum, floats, column + k);
    }
    for (; k < cols; ++k) {
      for (std::size_t i = 0; i < count; ++i) {
        add_scaled(column[k], m[i * cols + k], b[c * basis_length + i]);
      }
    }
  }
}

/// factor [rank, cols] += m [rows, cols] transposed * basis [rank, rows] transposed.
void power_left(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                std::size_t rank, float* factor) {
  constexpr std::size_t kBlock = 8;  // rows that a factor takes in before it is stored
  for (std::size_t i = 0; i < rows; i += kBlock) {
    const std::size_t count = std::min(kBlock, rows - i);
    std::size_t k = 0;
    for (; k + 4 <= rank; k += 4) {
      add_rows<4>(m + i * cols, count, cols, basis + k * rows + i, rows, factor + k * cols);
    }
    for (; k < rank; ++k) {
      add_rows<1>(m + i * cols, count, cols, basis + k * rows + i, rows, factor + k * cols);
    }
  }
}

/// One row of `count` columns: y[j] += scale * sum of weights[k] * right[k * count + j].
HWY_INLINE void expand_row(const float* weights, const float* right, std::size_t rank,
                           std::size_t count, float scale, float* y) {
  const Floats floats;
  const std::size_t step = hn::Lanes(floats);
  const auto scales = hn::Set(floats, scale);
  std::size_t j = 0;
  for (; j + 2 * step <= count; j += 2 * step) {
    const auto first = hn::Set(floats, weights[0]);
    auto s0 = hn::Mul(first, hn::LoadU(floats, right + j));
    auto s1 = hn::Mul(first, hn::LoadU(floats, right + j + step));
    for (std::size_t k = 1; k < rank; ++k) {
      const auto weight = hn::Set(floats, weights[k]);
      s0 = hn::Add(s0, hn::Mul(weight, hn::LoadU(floats, right + k * count + j)));
      s1 = hn::Add(s1, hn::Mul(weight, hn::LoadU(floats, right + k * count + j + step)));
    }
    lanes_add_scaled(y + j, scales, s0);
    lanes_add_scaled(y + j + step, scales, s1);
  }
  for (; j + step <= count; j += step) {
    auto s = hn::Mul(hn::Set(floats, weights[0]), hn::LoadU(floats, right + j));
    for (std::size_t k = 1; k < rank; ++k) {
      s = hn::Add(s,
                  hn::Mul(hn::Set(floats, weights[k]), hn::LoadU(floats, right + k * count + j)));
    }
    lanes_add_scaled(y + j, scales, s);
  }
  for (; j < count; ++j) {
    float s = weights[0] * right[j];
    for (std::size_t k = 1; k < rank; ++k) {
      add_scaled(s, weights[k], right[k * count + j]);
    }
    add_scaled(y[j], scale, s);
  }
}

/// acc [rows, cols] += scale * (left [rank, rows] transposed * right [rank, cols]).
void power_expand(const float* left, const float* right, std::size_t rows, std::size_t cols,
                  std::size_t rank, float scale, float* acc) {
  // As many columns as stay in the nearest cache, gathered: rows a power of two apart would push
  // each other out.
  std::array<float, 4096> tile;
  std::array<float, kRankMax> weights{};
  const std::size_t width = tile.size() / rank;
  for (std::size_t begin = 0; begin < cols; begin += width) {
    const std::size_t count = std::min(width, cols - begin);
    for (std::size_t k = 0; k < rank; ++k) {
      std::copy_n(right + k * cols + begin, count, tile.data() + k * count);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < rank; ++k) {
        weights[k] = left[k * rows + i];
      }
      expand_row(weights.data(), tile.data(), rank, count, scale, acc + i * cols + begin);
    }
  }
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(power_right);
HWY_EXPORT(power_left);
HWY_EXPORT(power_expand);

/// The tensor at hand in the state of the round; null when there is none of these elements.
const PowerTensor* tensor_of(const CodecContext& context, std::size_t elements) {
  const auto* state = dynamic_cast<const PowerState*>(context.state);
  const PowerTensor* tensor = state == nullptr ? nullptr : state->find(context.granule);
  const bool fits = tensor != nullptr && tensor->rows * tensor->cols == elements;
  return fits ? tensor : nullptr;
}

class PowerSgd final : public Codec {
 public:
  explicit PowerSgd(std::size_t rank) : rank_(rank) {}
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t rows) const override {
    const std::size_t cols = elements / rows;
    const std::size_t rank = power_rank(rank_, rows, cols);
    return sizeof(float) * (rank == 0 ? elements : rank * std::max(rows, cols)) + 2;
  }
  [[nodiscard]] std::unique_ptr<State> make_state(const ParamMap& map,
                                                  std::uint64_t run_seed) const override {
    return std::make_unique<PowerState>(*this, rank_, map, run_seed);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    const PowerTensor* const tensor = tensor_of(context, x.size());
    if (tensor == nullptr) {
      return config_error("powersgd encodes whole tensors of the model that its state is of");
    }
    if (tensor->rank == 0) {
      return plain().encode(x, context, out);
    }
    std::vector<float> factor(tensor->rank * tensor->factor_length());
    const auto product =
        tensor->left ? HWY_DYNAMIC_DISPATCH(power_left) : HWY_DYNAMIC_DISPATCH(power_right);
    product(x.data(), tensor->rows, tensor->cols, tensor->basis.data(), tensor->rank,
            factor.data());
    if (!factor_in_range(factor)) {  // a NaN or Inf reaches it
      return first_not_finite(x) < x.size()
                 ? not_finite_error(x)
                 : data_error("the values are too large to be projected");
    }
    write_factor(out, *tensor, factor);
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& context, float scale,
                                  std::span<float> acc) const override {
    const PowerTensor* const tensor = tensor_of(context, acc.size());
    if (tensor == nullptr) {
      return foreign_error("powersgd", "a tensor that this round's state does not know");
    }
    if (tensor->rank == 0) {
      return plain().decode_add(in, context, scale, acc);
    }
    std::vector<float> factor;
    SHOAL_TRY(read_factor(in, *tensor, factor));
    const float* const basis = tensor->basis.data();
    HWY_DYNAMIC_DISPATCH(power_expand)
    (tensor->left ? basis : factor.data(), tensor->left ? factor.data() : basis, tensor->rows,
     tensor->cols, tensor->rank, scale, acc.data());
    return {};
  }

 private:
  /// For what has no rank: fp32.
  static const Codec& plain() { return *codec_by_wire_id(1); }

  std::size_t rank_;
  /// A projection: of what is orthogonal to the basis nothing is left, so no contraction holds.
  Properties properties_{.wire_id = 14,
                         .phases = 2,
                         .state = StateKind::kReplicated,
                         .whole_tensor = true,
                         .summable = true};
};

}  // namespace

CodecEntry powersgd_entry() {
  OptionSpec rank{.name = "rank",
                  .type = OptionType::kInt,
                  .default_value = std::int64_t{4},
                  .help = "columns of the basis; the same on all peers",
                  .minimum = 1,
                  .maximum = static_cast<double>(kRankMax),
                  .choices = {},
                  .scope = Scope::kPeer};
  return {"powersgd",
          "matrices projected on a basis of few columns that all peers share",
          {std::move(rank)},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<PowerSgd>(static_cast<std::size_t>(options.get_int("rank")));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
