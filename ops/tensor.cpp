#include "ops/tensor.h"

#include <algorithm>

namespace shoal::ops {

Shape::Shape(std::span<const std::int64_t> dims) : rank_(dims.size()) {
  SHOAL_CHECK(dims.size() <= kRankMax, "a shape has at most kRankMax dimensions");
  for (std::size_t i = 0; i < rank_; ++i) {
    SHOAL_CHECK(dims[i] >= 0, "no dimension is negative");
    dims_[i] = dims[i];
  }
}

std::size_t Shape::elements() const {
  std::size_t total = 1;
  for (std::size_t i = 0; i < rank_; ++i) {
    total *= static_cast<std::size_t>(dims_[i]);
  }
  return total;
}

std::size_t Shape::cols() const {
  return rank_ == 0 ? 1 : static_cast<std::size_t>(dims_[rank_ - 1]);
}

std::size_t Shape::rows() const {
  std::size_t total = 1;
  for (std::size_t i = 0; i + 1 < rank_; ++i) {
    total *= static_cast<std::size_t>(dims_[i]);
  }
  return total;
}

Shape Shape::with_batch(std::size_t n) const {
  SHOAL_CHECK(rank_ < kRankMax, "a batch dimension needs room");
  Shape out;
  out.rank_ = rank_ + 1;
  out.dims_[0] = static_cast<std::int64_t>(n);
  std::copy_n(dims_.begin(), rank_, out.dims_.begin() + 1);
  return out;
}

Shape Shape::without_batch() const {
  SHOAL_CHECK(rank_ > 0, "a batch dimension is there");
  return Shape(dims().subspan(1));
}

Shape Shape::with_cols(std::int64_t n) const {
  SHOAL_CHECK(rank_ > 0 && n >= 0, "a last dimension is there");
  Shape out = *this;
  out.dims_[rank_ - 1] = n;
  return out;
}

std::string Shape::text() const {
  std::string out = "[";
  for (std::size_t i = 0; i < rank_; ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(dims_[i]);
  }
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) {
  return std::equal(a.dims_.begin(), a.dims_.begin() + static_cast<std::ptrdiff_t>(a.rank_),
                    b.dims_.begin(), b.dims_.begin() + static_cast<std::ptrdiff_t>(b.rank_));
}

}  // namespace shoal::ops
