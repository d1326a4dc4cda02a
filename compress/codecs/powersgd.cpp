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
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/powersgd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include <array>

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

constexpr std::size_t kSums = 16;  // partial sums of a product along a row
using Sums = hn::CappedTag<float, kSums>;

struct Rows4 {
  std::array<const float*, 4> row;
};
struct Columns2 {
  std::array<const float*, 2> column;
};

HWY_INLINE float tree_sum(std::array<float, kSums>& sums) {
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      sums[l] += sums[l + half];
    }
  }
  return sums[0];
}

/// out[row][column] = sum of row[j] * column[j].
HWY_INLINE void dots(const Rows4& a, const Columns2& b, std::size_t count,
                     std::array<std::array<float, 2>, 4>& out) {
  const Sums lanes;
  const std::size_t step = hn::Lanes(lanes);
  const std::size_t whole = count - count % kSums;
  std::array<std::array<std::array<float, kSums>, 2>, 4> sums{};
  for (std::size_t l = 0; l < kSums; l += step) {
    auto s00 = hn::Zero(lanes), s01 = s00, s10 = s00, s11 = s00;
    auto s20 = s00, s21 = s00, s30 = s00, s31 = s00;
    for (std::size_t j = l; j < whole; j += kSums) {
      const auto b0 = hn::LoadU(lanes, b.column[0] + j);
      const auto b1 = hn::LoadU(lanes, b.column[1] + j);
      const auto a0 = hn::LoadU(lanes, a.row[0] + j);
      s00 = hn::Add(s00, hn::Mul(a0, b0));
      s01 = hn::Add(s01, hn::Mul(a0, b1));
      const auto a1 = hn::LoadU(lanes, a.row[1] + j);
      s10 = hn::Add(s10, hn::Mul(a1, b0));
      s11 = hn::Add(s11, hn::Mul(a1, b1));
      const auto a2 = hn::LoadU(lanes, a.row[2] + j);
      s20 = hn::Add(s20, hn::Mul(a2, b0));
      s21 = hn::Add(s21, hn::Mul(a2, b1));
      const auto a3 = hn::LoadU(lanes, a.row[3] + j);
      s30 = hn::Add(s30, hn::Mul(a3, b0));
      s31 = hn::Add(s31, hn::Mul(a3, b1));
    }
    hn::StoreU(s00, lanes, sums[0][0].data() + l);
    hn::StoreU(s01, lanes, sums[0][1].data() + l);
    hn::StoreU(s10, lanes, sums[1][0].data() + l);
    hn::StoreU(s11, lanes, sums[1][1].data() + l);
    hn::StoreU(s20, lanes, sums[2][0].data() + l);
    hn::StoreU(s21, lanes, sums[2][1].data() + l);
    hn::StoreU(s30, lanes, sums[3][0].data() + l);
    hn::StoreU(s31, lanes, sums[3][1].data() + l);
  }
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t j = whole; j < count; ++j) {
        add_scaled(sums[r][c][j - whole], a.row[r][j], b.column[c][j]);
      }
      out[r][c] = tree_sum(sums[r][c]);
    }
  }
}

/// factor [rank, rows] = m [rows, cols] * basis [rank, cols] transposed.
void power_right(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                 std::size_t rank, float* factor) {
  std::array<std::array<float, 2>, 4> out{};
  for (std::size_t i = 0; i < rows; i += 4) {
    Rows4 a{};
    for (std::size_t r = 0; r < 4; ++r) {  // past the end the last one again
      a.row[r] = m + std::min(i + r, rows - 1) * cols;
    }
    for (std::size_t k = 0; k < rank; k += 2) {
      const std::size_t k1 = std::min(k + 1, rank - 1);
      dots(a, {{basis + k * cols, basis + k1 * cols}}, cols, out);
      for (std::size_t r = 0; r < 4 && i + r < rows; ++r) {
        factor[k * rows + i + r] = out[r][0];
        factor[k1 * rows + i + r] = out[r][1];
      }
    }
  }
}

/// Two columns of a factor over [0, cols) take in `count` rows of m: y_c[j] += m[i][j] * b_c[i].
HWY_INLINE void add_rows(const float* m, std::size_t count, std::size_t cols, const float* b0,
                         const float* b1, float* y0, float* y1) {
  const Floats floats;
  const std::size_t step = hn::Lanes(floats);
  std::size_t j = 0;
  for (; j + 2 * step <= cols; j += 2 * step) {
    auto s00 = hn::LoadU(floats, y0 + j);
    auto s01 = hn::LoadU(floats, y0 + j + step);
    auto s10 = hn::LoadU(floats, y1 + j);
    auto s11 = hn::LoadU(floats, y1 + j + step);
    for (std::size_t i = 0; i < count; ++i) {
      const auto x0 = hn::LoadU(floats, m + i * cols + j);
      const auto x1 = hn::LoadU(floats, m + i * cols + j + step);
      const auto w0 = hn::Set(floats, b0[i]);
      const auto w1 = hn::Set(floats, b1[i]);
      s00 = hn::Add(s00, hn::Mul(x0, w0));
      s01 = hn::Add(s01, hn::Mul(x1, w0));
      s10 = hn::Add(s10, hn::Mul(x0, w1));
      s11 = hn::Add(s11, hn::Mul(x1, w1));
    }
    hn::StoreU(s00, floats, y0 + j);
    hn::StoreU(s01, floats, y0 + j + step);
    hn::StoreU(s10, floats, y1 + j);
    hn::StoreU(s11, floats, y1 + j + step);
  }
  for (; j < cols; ++j) {
    float s0 = y0[j];
    float s1 = y1[j];
    for (std::size_t i = 0; i < count; ++i) {
      add_scaled(s0, m[i * cols + j], b0[i]);
      add_scaled(s1, m[i * cols + j], b1[i]);
    }
    y0[j] = s0;
    y1[j] = s1;
  }
}

/// factor [rank, cols] += m [rows, cols] transposed * basis [rank, rows] transposed.
void power_left(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                std::size_t rank, float* factor) {
  constexpr std::size_t kBlock = 8;  // rows that a factor takes in before it is stored
  for (std::size_t i = 0; i < rows; i += kBlock) {
    for (std::size_t k = 0; k < rank; k += 2) {
      const std::size_t k1 = std::min(k + 1, rank - 1);
      add_rows(m + i * cols, std::min(kBlock, rows - i), cols, basis + k * rows + i,
               basis + k1 * rows + i, factor + k * cols, factor + k1 * cols);
    }
  }
}

/// acc [rows, cols] += scale * (left [rank, rows] transposed * right [rank, cols]).
void power_expand(const float* left, const float* right, std::size_t rows, std::size_t cols,
                  std::size_t rank, float scale, float* acc) {
  const Floats floats;
  const std::size_t step = hn::Lanes(floats);
  const auto scales = hn::Set(floats, scale);
  for (std::size_t i = 0; i < rows; ++i) {
    float* const y = acc + i * cols;
    std::size_t j = 0;
    for (; j + 2 * step <= cols; j += 2 * step) {
      const auto first = hn::Set(floats, left[i]);
      auto s0 = hn::Mul(first, hn::LoadU(floats, right + j));
      auto s1 = hn::Mul(first, hn::LoadU(floats, right + j + step));
      for (std::size_t k = 1; k < rank; ++k) {
        const auto weight = hn::Set(floats, left[k * rows + i]);
        s0 = hn::Add(s0, hn::Mul(weight, hn::LoadU(floats, right + k * cols + j)));
        s1 = hn::Add(s1, hn::Mul(weight, hn::LoadU(floats, right + k * cols + j + step)));
      }
      lanes_add_scaled(y + j, scales, s0);
      lanes_add_scaled(y + j + step, scales, s1);
    }
    for (; j < cols; ++j) {
      float s = left[i] * right[j];
      for (std::size_t k = 1; k < rank; ++k) {
        add_scaled(s, left[k * rows + i], right[k * cols + j]);
      }
      add_scaled(y[j], scale, s);
    }
  }
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"
#include "compress/power_state.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(power_right);
HWY_EXPORT(power_left);
HWY_EXPORT(power_expand);

constexpr std::int64_t kRankMax = 32;

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
                  .maximum = kRankMax,
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
