#include "compress/power_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "compress/codecs/common.h"
#include "ops/base/rng.h"

namespace shoal::compress {
namespace {

/// Sums of products of up to kRankMax of these with a basis stay finite.
constexpr std::uint32_t kFactorBits = 0x7b800000;  // 2^120

/// Sum of products in double: eight partial sums, then their sum in order.
template <typename A>
double dot(std::span<const A> a, std::span<const double> b) {
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= a.size(); i += sums.size()) {
    for (std::size_t l = 0; l < sums.size(); ++l) {
      sums[l] += static_cast<double>(a[i + l]) * b[i + l];
    }
  }
  for (std::size_t l = 0; i < a.size(); ++i, ++l) {
    sums[l] += static_cast<double>(a[i]) * b[i];
  }
  double sum = 0;
  for (const double s : sums) {
    sum += s;
  }
  return sum;
}

double norm(std::span<const double> v) { return std::sqrt(dot(v, v)); }

/// Takes out of `v` what lies in the span of `columns`, and makes the rest one long. False when
/// nothing but rounding would be left.
bool project_out(std::span<const float> columns, std::span<double> v) {
  const double before = norm(v);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t at = 0; at < columns.size(); at += v.size()) {
      const auto column = columns.subspan(at, v.size());
      const double along = dot(column, std::span<const double>(v));
      for (std::size_t i = 0; i < v.size(); ++i) {
        v[i] -= along * static_cast<double>(column[i]);
      }
    }
  }
  const double after = norm(v);
  if (!(after > 1e-6 * before)) {
    return false;
  }
  for (double& x : v) {
    x /= after;
  }
  return true;
}

/// Uniform in [-1, 1): exact on every machine, unlike normal values.
void draw(Rng& rng, std::span<double> v) {
  for (double& x : v) {
    x = (static_cast<double>(rng.next_u32()) - 0x1p31) * 0x1p-31;
  }
}

std::uint64_t basis_seed(std::uint64_t run_seed, std::uint64_t granule, std::uint64_t round) {
  return mix(mix(mix(run_seed, 0x706f776572), granule), round);
}

Status other_state() {
  return data_error(
      "the saved state of PowerSGD belongs to another model or rank, or is cut short");
}

/// Whether each column is one long, as orthonormalise() leaves it.
bool unit_columns(std::span<const float> basis, std::size_t length) {
  std::vector<double> column(length);
  for (std::size_t at = 0; at < basis.size(); at += length) {
    const auto values = basis.subspan(at, length);
    std::copy(values.begin(), values.end(), column.begin());
    const double long_by = norm(column) - 1;
    if (!(std::abs(long_by) <= 1e-5)) {  // NaN and Inf too
      return false;
    }
  }
  return true;
}

}  // namespace

std::size_t power_rank(std::size_t rank, std::size_t rows, std::size_t cols) {
  const std::size_t shorter = std::min(rows, cols);
  return shorter > 1 ? std::min(rank, shorter) : 0;
}

void orthonormalise(std::span<float> columns, std::size_t count, std::uint64_t seed) {
  const std::size_t length = columns.size() / count;
  SHOAL_CHECK(count <= length && count * length == columns.size(), "columns fit in their space");
  std::vector<double> v(length);
  for (std::size_t k = 0; k < count; ++k) {
    const auto column = columns.subspan(k * length, length);
    std::copy(column.begin(), column.end(), v.begin());
    Rng rng(seed, k);
    while (!project_out(columns.first(k * length), v)) {
      draw(rng, v);
    }
    std::transform(v.begin(), v.end(), column.begin(),
                   [](double x) { return static_cast<float>(x); });
  }
}

bool factor_in_range(std::span<const float> factor) {
  std::uint32_t max = 0;
  for (const float v : factor) {
    max = std::max(max, abs_bits(v));
  }
  return max < kFactorBits;
}

void write_factor(ByteWriter& out, const PowerTensor& tensor, std::span<const float> factor) {
  out.put(static_cast<std::uint8_t>(tensor.left ? 1 : 0));
  out.put(static_cast<std::uint8_t>(tensor.rank));
  out.put_bytes(std::as_bytes(factor));
}

Status read_factor(ByteReader& in, const PowerTensor& tensor, std::vector<float>& factor) {
  std::uint8_t left = 0;
  std::uint8_t rank = 0;
  ByteSpan values;
  if (!in.get(left) || !in.get(rank)) {
    return truncated_error("powersgd");
  }
  if (left != (tensor.left ? 1 : 0) || rank != tensor.rank) {
    return foreign_error("powersgd", "a factor of another side or rank than this round's");
  }
  factor.resize(tensor.rank * tensor.factor_length());
  if (!in.get_bytes(factor.size() * sizeof(float), values)) {
    return truncated_error("powersgd");
  }
  std::memcpy(factor.data(), values.data(), values.size());
  return factor_in_range(factor) ? Status{}
                                 : foreign_error("powersgd", "a value that is too large or a NaN");
}

PowerState::PowerState(const Codec& codec, std::size_t rank, const ParamMap& map,
                       std::uint64_t run_seed)
    : rank_(static_cast<std::uint8_t>(rank)) {
  for (std::uint64_t g = 0; g < map.granule_count();) {
    const Unit unit = unit_at(codec, map, g);
    PowerTensor tensor;
    tensor.granules = unit.granules;
    tensor.rows = unit.codec == &codec ? unit.rows : 1;
    tensor.cols = unit.elements / tensor.rows;
    tensor.rank = power_rank(rank, tensor.rows, tensor.cols);
    if (tensor.rank > 0) {
      tensor.basis.assign(tensor.rank * tensor.basis_length(), 0.0F);
      orthonormalise(tensor.basis, tensor.rank, basis_seed(run_seed, g, 0));
    }
    tensors_.push_back(std::move(tensor));
    g = unit.granules.end;
  }
}

std::unique_ptr<State> PowerState::clone() const { return std::make_unique<PowerState>(*this); }

const PowerTensor* PowerState::find(std::uint64_t granule) const {
  const auto it =
      std::lower_bound(tensors_.begin(), tensors_.end(), granule,
                       [](const PowerTensor& t, std::uint64_t g) { return t.granules.begin < g; });
  return it != tensors_.end() && it->granules.begin == granule ? &*it : nullptr;
}

Status PowerState::advance(Range granules, const CodecContext& context, ByteSpan answer) {
  ByteReader in(answer);
  for (PowerTensor& tensor : tensors_) {
    if (tensor.granules.begin < granules.begin || tensor.granules.end > granules.end) {
      continue;
    }
    if (tensor.rank == 0) {
      ByteSpan skipped;
      if (!in.get_bytes(tensor.rows * tensor.cols * sizeof(float), skipped)) {
        return truncated_error("powersgd");
      }
      continue;
    }
    std::vector<float> factor;
    SHOAL_TRY(read_factor(in, tensor, factor));
    orthonormalise(factor, tensor.rank,
                   basis_seed(context.run_seed, tensor.granules.begin, context.round));
    tensor.basis = std::move(factor);
    tensor.left = !tensor.left;
  }
  return in.left() == 0 ? Status{} : bad_frame("bytes are left over after the last tensor");
}

void PowerState::save(ByteWriter& out) const {
  out.put(rank_);
  out.put(static_cast<std::uint64_t>(tensors_.size()));
  for (const PowerTensor& tensor : tensors_) {
    if (tensor.rank > 0) {
      out.put(static_cast<std::uint8_t>(tensor.left ? 1 : 0));
      out.put_bytes(std::as_bytes(std::span(tensor.basis)));
    }
  }
}

Status PowerState::load(ByteReader& in) {
  PowerState loaded = *this;
  std::uint8_t rank = 0;
  std::uint64_t count = 0;
  if (!in.get(rank) || rank != rank_ || !in.get(count) || count != tensors_.size()) {
    return other_state();
  }
  for (PowerTensor& tensor : loaded.tensors_) {
    if (tensor.rank == 0) {
      continue;
    }
    std::uint8_t left = 0;
    ByteSpan values;
    if (!in.get(left) || left > 1) {
      return other_state();
    }
    tensor.left = left == 1;
    tensor.basis.resize(tensor.rank * tensor.basis_length());
    if (!in.get_bytes(tensor.basis.size() * sizeof(float), values)) {
      return other_state();
    }
    std::memcpy(tensor.basis.data(), values.data(), values.size());
    if (!unit_columns(tensor.basis, tensor.basis_length())) {
      return data_error("the saved state of PowerSGD holds a basis that is not one long");
    }
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace shoal::compress
