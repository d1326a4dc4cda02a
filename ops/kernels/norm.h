#pragma once

#include <cmath>
#include <cstddef>

#include "ops/kernels/hd.h"
#include "ops/kernels/norm_sizes.h"

namespace shoal::ops::kernels {

SHOAL_HD inline float square_root(float x) { return sqrtf(x); }
SHOAL_HD inline double square_root(double x) { return sqrt(x); }

SHOAL_HD inline std::size_t norm_channels(const ShoalNormSizes& s) {
  return s.groups * (s.cols / s.inner);
}
SHOAL_HD inline std::size_t norm_channel(const ShoalNormSizes& s, std::size_t row, std::size_t i) {
  return row % s.groups * (s.cols / s.inner) + i / s.inner;
}

/// What statistics are summed from, run by run of neighbours.
template <typename T>
SHOAL_HD void add_values(const T* x, std::size_t count, T& sum) {
  for (std::size_t i = 0; i < count; ++i) {
    sum += x[i];
  }
}
template <typename T>
SHOAL_HD void add_squares(const T* x, std::size_t count, T mean, T& squares) {
  for (std::size_t i = 0; i < count; ++i) {
    const T d = x[i] - mean;
    squares += d * d;
  }
}

/// Gradients of one channel's offset and factor, summed over runs of neighbours that were
/// normalised alike.
template <typename T>
struct ChannelGradient {
  T sum = T(0);      // of dy
  T product = T(0);  // of dy h with h = (x - mean) * factor
  SHOAL_HD void add(const T* x, const T* dy, std::size_t count, T mean, T factor) {
    for (std::size_t i = 0; i < count; ++i) {
      sum += dy[i];
      product += dy[i] * ((x[i] - mean) * factor);
    }
  }
  /// Put or added; null: not wanted.
  SHOAL_HD void store(T* dweight, T* dbias, std::size_t channel, bool add_up) const {
    if (dweight != nullptr) {
      dweight[channel] = add_up ? dweight[channel] + product : product;
    }
    if (dbias != nullptr) {
      dbias[channel] = add_up ? dbias[channel] + sum : sum;
    }
  }
};

/// One row: y = (x - mean) / sqrt(variance + epsilon) * weight + bias; stats [rows, 2] keep the
/// mean and the factor. The mean is subtracted before squares are added, so that a large one does
/// not eat the variance.
template <typename T>
struct RowNorm {
  ShoalNormSizes s;
  const T* x;
  const T* weight;
  const T* bias;  // null: none
  T* y;
  T* stats;
  bool centered;  // false: the mean is taken as 0 (RMS norm)
  SHOAL_HD void operator()(std::size_t row) const {
    const T* in = x + row * s.cols;
    T* out = y + row * s.cols;
    const T count = static_cast<T>(s.cols);
    T mean = T(0);
    if (centered) {
      add_values(in, s.cols, mean);
      mean = mean / count;
    }
    T squares = T(0);
    add_squares(in, s.cols, mean, squares);
    const T factor = T(1) / square_root(squares / count + static_cast<T>(s.epsilon));
    stats[2 * row] = mean;
    stats[2 * row + 1] = factor;
    for (std::size_t i = 0; i < s.cols; ++i) {
      const std::size_t c = norm_channel(s, row, i);
      const T value = (in[i] - mean) * factor * weight[c];
      out[i] = bias == nullptr ? value : value + bias[c];
    }
  }
};

/// One row of x's gradient: with g = dy * weight and h = (x - mean) * factor,
/// dx = factor * (g - mean(g) - h * mean(g h)); without a mean its term is missing.
template <typename T>
struct RowNormBackward {
  ShoalNormSizes s;
  const T* x;
  const T* weight;
  const T* stats;
  const T* dy;
  T* dx;
  bool centered;
  SHOAL_HD void operator()(std::size_t row) const {
    const T* in = x + row * s.cols;
    const T* gradient = dy + row * s.cols;
    const T mean = stats[2 * row];
    const T factor = stats[2 * row + 1];
    T sum = T(0);
    T product = T(0);
    for (std::size_t i = 0; i < s.cols; ++i) {
      const T g = gradient[i] * weight[norm_channel(s, row, i)];
      sum += g;
      product += g * ((in[i] - mean) * factor);
    }
    const T count = static_cast<T>(s.cols);
    const T mean_g = centered ? sum / count : T(0);
    const T mean_gh = product / count;
    for (std::size_t i = 0; i < s.cols; ++i) {
      const T g = gradient[i] * weight[norm_channel(s, row, i)];
      dx[row * s.cols + i] = factor * (g - mean_g - (in[i] - mean) * factor * mean_gh);
    }
  }
};

/// One channel of the gradients of weight and bias, rows in order.
template <typename T>
struct RowNormParameters {
  ShoalNormSizes s;
  const T* x;
  const T* stats;
  const T* dy;
  T* dweight;  // null: not wanted
  T* dbias;    // alike
  bool add;
  SHOAL_HD void operator()(std::size_t channel) const {
    const std::size_t per_row = s.cols / s.inner;
    ChannelGradient<T> gradient;
    for (std::size_t row = channel / per_row; row < s.rows; row += s.groups) {
      const std::size_t first = row * s.cols + channel % per_row * s.inner;
      gradient.add(x + first, dy + first, s.inner, stats[2 * row], stats[2 * row + 1]);
    }
    gradient.store(dweight, dbias, channel, add);
  }
};

/// One channel: stats [channels, 3] = mean, 1 / sqrt(variance + epsilon), variance over the batch.
template <typename T>
struct BatchStats {
  ShoalBatchNormSizes s;
  const T* x;
  T* stats;
  SHOAL_HD void operator()(std::size_t channel) const {
    const T count = static_cast<T>(s.batch * s.inner);
    T mean = T(0);
    for (std::size_t n = 0; n < s.batch; ++n) {
      add_values(x + (n * s.channels + channel) * s.inner, s.inner, mean);
    }
    mean = mean / count;
    T squares = T(0);
    for (std::size_t n = 0; n < s.batch; ++n) {
      add_squares(x + (n * s.channels + channel) * s.inner, s.inner, mean, squares);
    }
    const T variance = squares / count;
    stats[3 * channel] = mean;
    stats[3 * channel + 1] = T(1) / square_root(variance + static_cast<T>(s.epsilon));
    stats[3 * channel + 2] = variance;
  }
};

/// One channel: the same from running statistics.
template <typename T>
struct RunningStats {
  double epsilon;
  const T* mean;
  const T* variance;
  T* stats;
  SHOAL_HD void operator()(std::size_t channel) const {
    stats[3 * channel] = mean[channel];
    stats[3 * channel + 1] = T(1) / square_root(variance[channel] + static_cast<T>(epsilon));
    stats[3 * channel + 2] = variance[channel];
  }
};

/// One element of y = (x - mean) * factor * weight + bias.
template <typename T>
struct BatchNormApply {
  ShoalBatchNormSizes s;
  const T* x;
  const T* stats;
  const T* weight;
  const T* bias;
  T* y;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t c = i / s.inner % s.channels;
    y[i] = (x[i] - stats[3 * c]) * stats[3 * c + 1] * weight[c] + bias[c];
  }
};

/// One channel: sums [channels, 2] = sum of dy, sum of dy h with h = (x - mean) * factor; put or
/// added to the gradients of bias and weight.
template <typename T>
struct BatchNormSums {
  ShoalBatchNormSizes s;
  const T* x;
  const T* stats;
  const T* dy;
  T* sums;
  T* dweight;  // null: not wanted
  T* dbias;    // alike
  bool add;
  SHOAL_HD void operator()(std::size_t channel) const {
    ChannelGradient<T> gradient;
    for (std::size_t n = 0; n < s.batch; ++n) {
      const std::size_t first = (n * s.channels + channel) * s.inner;
      gradient.add(x + first, dy + first, s.inner, stats[3 * channel], stats[3 * channel + 1]);
    }
    sums[2 * channel] = gradient.sum;
    sums[2 * channel + 1] = gradient.product;
    gradient.store(dweight, dbias, channel, add);
  }
};

/// One element of x's gradient; `fixed`: the statistics did not come from this batch.
template <typename T>
struct BatchNormBackward {
  ShoalBatchNormSizes s;
  const T* x;
  const T* stats;
  const T* weight;
  const T* sums;
  const T* dy;
  T* dx;
  bool fixed;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t c = i / s.inner % s.channels;
    const T factor = stats[3 * c + 1];
    const T count = static_cast<T>(s.batch * s.inner);
    T inside = dy[i];
    if (!fixed) {
      const T h = (x[i] - stats[3 * c]) * factor;
      inside = inside - sums[2 * c] / count - h * (sums[2 * c + 1] / count);
    }
    dx[i] = inside * factor * weight[c];
  }
};

/// One channel of running <- (1 - momentum) running + momentum batch, the variance unbiased as
/// PyTorch keeps it; channel 0 counts the batch.
template <typename T>
struct RunningUpdate {
  const T* stats;
  T* mean;
  T* variance;
  T* batches;
  T momentum;
  T unbiased;  // count / (count - 1)
  SHOAL_HD void operator()(std::size_t channel) const {
    const T keep = T(1) - momentum;
    mean[channel] = keep * mean[channel] + momentum * stats[3 * channel];
    variance[channel] = keep * variance[channel] + momentum * (unbiased * stats[3 * channel + 2]);
    if (channel == 0) {
      batches[0] = batches[0] + T(1);
    }
  }
};

}  // namespace shoal::ops::kernels
