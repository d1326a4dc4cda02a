#include "ops/norm.h"

#include <cmath>

#include "ops/kernels/update.h"

namespace shoal::ops {

double sum_squares(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < kernels::leaf_count(x.size()); ++i) {
    double leaf = 0;
    const std::size_t begin = i * kernels::kSumLeaf;
    kernels::SumSquares<float>{x.data() + begin, &leaf, x.size() - begin}(0);
    sum += leaf;
  }
  return sum;
}

Result<SquareSums> SquareSums::make(Backend& backend, std::size_t leaves) {
  SquareSums sums;
  sums.backend_ = &backend;
  sums.host_.resize(leaves);
  SHOAL_ASSIGN(sums.device_, backend.allocate(leaves * sizeof(double)));
  return sums;
}

std::size_t SquareSums::leaves(std::size_t elements) { return kernels::leaf_count(elements); }

std::span<const double> SquareSums::of(std::span<const ConstTensorView> views) {
  const TensorView all(device_.data(), Shape{static_cast<std::int64_t>(host_.size())}, DType::kF64,
                       backend_->device());
  std::size_t used = 0;
  for (const auto& view : views) {
    const std::size_t count = leaves(view.elements());
    SHOAL_CHECK(count <= host_.size() - used, "sums of squares have room");
    backend_->sum_squares(view, all.slice(used, count));
    used += count;
  }
  const auto part = all.slice(0, used);
  backend_->download(part, host_view(host_.data(), part.shape));
  sums_.clear();
  const double* leaf = host_.data();
  for (const auto& view : views) {
    double sum = 0;
    for (std::size_t i = 0; i < leaves(view.elements()); ++i) {
      sum += *leaf++;
    }
    sums_.push_back(sum);
  }
  return sums_;
}

double clip_factor(double squares, double norm_max) {
  const double norm = std::sqrt(squares);
  return std::isfinite(norm) && norm > norm_max ? norm_max / norm : 1.0;
}

double clip_norm(std::span<float> x, double norm_max) {
  const double squares = sum_squares(x);
  const double factor = clip_factor(squares, norm_max);
  if (factor < 1) {
    for (float& value : x) {
      value *= static_cast<float>(factor);
    }
  }
  return std::sqrt(squares);
}

double clip_norm(Backend& backend, TensorView x, double norm_max, SquareSums& sums) {
  const double squares = sums.of(x);
  const double factor = clip_factor(squares, norm_max);
  if (factor < 1) {
    backend.scale(x, factor);
  }
  return std::sqrt(squares);
}

}  // namespace shoal::ops
