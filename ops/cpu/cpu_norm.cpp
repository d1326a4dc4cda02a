#include "ops/cpu/cpu_norm.h"

#include <algorithm>
#include <cmath>

#include "ops/cpu/norm.h"
#include "ops/kernels/norm.h"

namespace shoal::ops {
namespace {

/// Gradients of parameters that are replaced begin at 0, since rows are added to them.
void begin(const TensorView& gradient, Into into) {
  if (!gradient.empty() && into == Into::kReplace) {
    std::fill_n(gradient.as<float>(), gradient.elements(), 0.0F);
  }
}

}  // namespace

void CpuNormOps::row_norm(const NormSizes& s, bool centered, ConstTensorView x,
                          ConstTensorView weight, ConstTensorView bias, TensorView y,
                          TensorView stats) {
  const auto count = static_cast<float>(s.cols);
  const float* w = weight.as<float>();
  const float* b = bias.as_or_null<float>();
  for (std::size_t row = 0; row < s.rows; ++row) {
    const float* in = x.as<float>() + row * s.cols;
    float* out = y.as<float>() + row * s.cols;
    const float mean = centered ? cpu::sum(in, s.cols) / count : 0.0F;
    const float variance = cpu::squares(in, mean, s.cols) / count;
    const float factor = 1.0F / std::sqrt(variance + static_cast<float>(s.epsilon));
    stats.as<float>()[2 * row] = mean;
    stats.as<float>()[2 * row + 1] = factor;
    if (s.inner == 1) {
      const std::size_t c = kernels::norm_channel(s, row, 0);
      cpu::scale_row(in, mean, factor, w + c, b == nullptr ? nullptr : b + c, out, s.cols);
      continue;
    }
    for (std::size_t i = 0; i < s.cols; i += s.inner) {
      const std::size_t c = kernels::norm_channel(s, row, i);
      cpu::affine(in + i, mean, factor * w[c], b == nullptr ? 0.0F : b[c], out + i, s.inner);
    }
  }
}

void CpuNormOps::row_norm_backward(const NormSizes& s, bool centered, const Backward& pass) {
  begin(pass.dweight, pass.into);
  begin(pass.dbias, pass.into);
  const float* w = pass.weight.as<float>();
  float* dw = pass.dweight.as_or_null<float>();
  float* db = pass.dbias.as_or_null<float>();
  const auto count = static_cast<float>(s.cols);
  for (std::size_t row = 0; row < s.rows; ++row) {
    const float* x = pass.x.as<float>() + row * s.cols;
    const float* dy = pass.dy.as<float>() + row * s.cols;
    float* dx = pass.dx.empty() ? nullptr : pass.dx.as<float>() + row * s.cols;
    const float mean = pass.stats.as<float>()[2 * row];
    const float factor = pass.stats.as<float>()[2 * row + 1];
    const std::size_t first = kernels::norm_channel(s, row, 0);
    if (s.inner == 1) {
      cpu::row_gradient(
          {x, w + first, dy, mean, factor, centered, dx, dw == nullptr ? nullptr : dw + first,
           db == nullptr ? nullptr : db + first},
          s.cols);
      continue;
    }
    float sum = 0.0F;
    float product = 0.0F;
    for (std::size_t i = 0; i < s.cols; i += s.inner) {
      const std::size_t c = first + i / s.inner;
      const auto part = cpu::gradient_sums(x + i, dy + i, mean, factor, s.inner);
      sum += w[c] * part.dy;
      product += w[c] * part.product;
      if (dw != nullptr) {
        dw[c] += part.product;
      }
      if (db != nullptr) {
        db[c] += part.dy;
      }
    }
    for (std::size_t i = 0; dx != nullptr && i < s.cols; i += s.inner) {
      // factor * (w dy - mean(g) - (x - mean) * factor * mean(g h))
      const cpu::AffineGradient g{factor * w[first + i / s.inner],
                                  -(factor * factor) * (product / count),
                                  centered ? -factor * (sum / count) : 0.0F};
      cpu::affine_gradient(x + i, mean, dy + i, g, dx + i, s.inner);
    }
  }
}

void CpuNormOps::batch_stats(const BatchNormSizes& s, ConstTensorView x, TensorView stats) {
  const auto count = static_cast<float>(s.batch * s.inner);
  const std::size_t step = s.channels * s.inner;
  for (std::size_t c = 0; c < s.channels; ++c) {
    const float* in = x.as<float>() + c * s.inner;
    float sum = 0.0F;
    for (std::size_t n = 0; n < s.batch; ++n) {
      sum += cpu::sum(in + n * step, s.inner);
    }
    const float mean = sum / count;
    float squares = 0.0F;
    for (std::size_t n = 0; n < s.batch; ++n) {
      squares += cpu::squares(in + n * step, mean, s.inner);
    }
    float* out = stats.as<float>() + 3 * c;
    out[0] = mean;
    out[1] = 1.0F / std::sqrt(squares / count + static_cast<float>(s.epsilon));
    out[2] = squares / count;
  }
}

void CpuNormOps::batch_norm(const BatchNormSizes& s, ConstTensorView x, ConstTensorView stats,
                            ConstTensorView weight, ConstTensorView bias, TensorView y) {
  for (std::size_t plane = 0; plane < s.batch * s.channels; ++plane) {
    const std::size_t c = plane % s.channels;
    const float* stat = stats.as<float>() + 3 * c;
    cpu::affine(x.as<float>() + plane * s.inner, stat[0], stat[1] * weight.as<float>()[c],
                bias.as<float>()[c], y.as<float>() + plane * s.inner, s.inner);
  }
}

void CpuNormOps::batch_norm_backward(const BatchNormSizes& s, bool fixed, const Backward& pass,
                                     TensorView sums) {
  begin(pass.dweight, pass.into);
  begin(pass.dbias, pass.into);
  std::fill_n(sums.as<float>(), 2 * s.channels, 0.0F);
  const float* x = pass.x.as<float>();
  const float* dy = pass.dy.as<float>();
  const float* stats = pass.stats.as<float>();
  float* total = sums.as<float>();
  for (std::size_t plane = 0; plane < s.batch * s.channels; ++plane) {
    const std::size_t c = plane % s.channels;
    const auto part = cpu::gradient_sums(x + plane * s.inner, dy + plane * s.inner, stats[3 * c],
                                         stats[3 * c + 1], s.inner);
    total[2 * c] += part.dy;
    total[2 * c + 1] += part.product;
  }
  for (std::size_t c = 0; c < s.channels; ++c) {
    if (!pass.dweight.empty()) {
      pass.dweight.as<float>()[c] += total[2 * c + 1];
    }
    if (!pass.dbias.empty()) {
      pass.dbias.as<float>()[c] += total[2 * c];
    }
  }
  const auto count = static_cast<float>(s.batch * s.inner);
  for (std::size_t plane = 0; !pass.dx.empty() && plane < s.batch * s.channels; ++plane) {
    const std::size_t c = plane % s.channels;
    const float factor = stats[3 * c + 1];
    const float scale = factor * pass.weight.as<float>()[c];
    cpu::AffineGradient g{scale, 0.0F, 0.0F};
    if (!fixed) {
      g.slope = -scale * factor * (total[2 * c + 1] / count);
      g.shift = -scale * (total[2 * c] / count);
    }
    cpu::affine_gradient(x + plane * s.inner, stats[3 * c], dy + plane * s.inner, g,
                         pass.dx.as<float>() + plane * s.inner, s.inner);
  }
}

}  // namespace shoal::ops
