#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/kernels/activation.h"
#include "ops/kernels/conv_sizes.h"
#include "ops/kernels/hd.h"

/// A convolution as a product: the values under the kernel become columns ("im2col"), one for each
/// place of the result. `first` and `images` say which part of the batch a body works on, `group`
/// which channels.
namespace shoal::ops::kernels {

SHOAL_HD inline std::size_t conv_places(const ShoalConvSizes& s) {
  return s.conv_height * s.conv_width;
}
/// Rows of the columns of one group.
SHOAL_HD inline std::size_t conv_depth(const ShoalConvSizes& s) {
  return s.in / s.groups * s.kernel * s.kernel;
}

/// One element of col [depth, images * places].
template <typename T>
struct Im2col {
  ShoalConvSizes s;
  std::size_t first;
  std::size_t images;
  std::size_t group;
  const T* x;
  T* col;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t places = conv_places(s);
    const std::size_t k = i / (images * places);
    const std::size_t image = i / places % images;
    const std::size_t place = i % places;
    const std::size_t channel = group * (s.in / s.groups) + k / (s.kernel * s.kernel);
    // Wraps below zero, so that one comparison finds both borders.
    const std::size_t row =
        place / s.conv_width * s.stride + k / s.kernel % s.kernel * s.dilation - s.padding;
    const std::size_t column =
        place % s.conv_width * s.stride + k % s.kernel * s.dilation - s.padding;
    const bool inside = row < s.height && column < s.width;
    const std::size_t plane = (first + image) * s.in + channel;
    col[i] = inside ? x[(plane * s.height + row) * s.width + column] : T(0);
  }
};

/// One element of x's gradient: the columns' gradients that it was copied to, added in order.
template <typename T>
struct Col2im {
  ShoalConvSizes s;
  std::size_t first;
  std::size_t images;
  std::size_t group;
  const T* col;
  T* dx;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t channels = s.in / s.groups;
    const std::size_t column = i % s.width + s.padding;
    const std::size_t row = i / s.width % s.height + s.padding;
    const std::size_t channel = i / (s.width * s.height) % channels;
    const std::size_t image = i / (s.width * s.height * channels);
    T sum = T(0);
    for (std::size_t ky = 0; ky < s.kernel; ++ky) {
      for (std::size_t kx = 0; kx < s.kernel; ++kx) {
        const std::size_t down = row - ky * s.dilation;
        const std::size_t right = column - kx * s.dilation;
        const bool inside = down / s.stride < s.conv_height && right / s.stride < s.conv_width &&
                            down % s.stride == 0 && right % s.stride == 0;
        if (inside) {
          const std::size_t k = (channel * s.kernel + ky) * s.kernel + kx;
          sum += col[((k * images + image) * s.conv_height + down / s.stride) * s.conv_width +
                     right / s.stride];
        }
      }
    }
    const std::size_t plane = (first + image) * s.in + group * channels + channel;
    dx[plane * s.height * s.width + i % (s.height * s.width)] = sum;
  }
};

/// One element of y = activation(max over the window of (product + bias)), which is the activation
/// before the pooling, since both never fall. The first of equals wins; NaN wins over all.
template <typename T>
struct ConvResult {
  ShoalConvSizes s;
  std::size_t first;
  std::size_t images;
  std::size_t group;
  const T* product;  // [out / groups, images * places]
  const T* bias;     // null: none
  T* y;
  std::uint8_t* argmax;  // null when pool is 1
  bool with_relu;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t channels = s.out / s.groups;
    const std::size_t height = s.conv_height / s.pool;
    const std::size_t width = s.conv_width / s.pool;
    const std::size_t row = i / width % height * s.pool;
    const std::size_t column = i % width * s.pool;
    const std::size_t channel = i / (width * height) % channels;
    const std::size_t image = i / (width * height * channels);
    const T* from = product + (channel * images + image) * conv_places(s);
    T best = from[row * s.conv_width + column];
    std::size_t at = 0;
    for (std::size_t w = 1; w < s.pool * s.pool; ++w) {
      const T value = from[(row + w / s.pool) * s.conv_width + column + w % s.pool];
      const bool take = value > best || value != value;
      best = take ? value : best;
      at = take ? w : at;
    }
    const std::size_t whole = group * channels + channel;
    const std::size_t out =
        ((first + image) * s.out + whole) * width * height + i % (width * height);
    const T value = bias == nullptr ? best : best + bias[whole];
    y[out] = with_relu ? relu(value) : value;
    if (argmax != nullptr) {
      argmax[out] = static_cast<std::uint8_t>(at);
    }
  }
};

/// One element of the product's gradient: dy where the window's largest was, 0 elsewhere.
template <typename T>
struct ConvResultBackward {
  ShoalConvSizes s;
  std::size_t first;
  std::size_t images;
  std::size_t group;
  const T* y;
  const T* dy;
  const std::uint8_t* argmax;
  T* dproduct;
  bool with_relu;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t channels = s.out / s.groups;
    const std::size_t height = s.conv_height / s.pool;
    const std::size_t width = s.conv_width / s.pool;
    const std::size_t column = i % s.conv_width;
    const std::size_t row = i / s.conv_width % s.conv_height;
    const std::size_t image = i / conv_places(s) % images;
    const std::size_t channel = group * channels + i / (conv_places(s) * images);
    T value = T(0);
    if (row / s.pool < height && column / s.pool < width) {
      const std::size_t at =
          (((first + image) * s.out + channel) * height + row / s.pool) * width + column / s.pool;
      const bool chosen =
          argmax == nullptr || argmax[at] == row % s.pool * s.pool + column % s.pool;
      value = chosen && !(with_relu && y[at] <= T(0)) ? dy[at] : T(0);
    }
    dproduct[i] = value;
  }
};

/// One channel of the bias gradient, images in order.
template <typename T>
struct ConvBiasBackward {
  ShoalConvSizes s;
  const T* y;
  const T* dy;
  T* dbias;
  bool with_relu;
  bool add;
  SHOAL_HD void operator()(std::size_t channel) const {
    const std::size_t places = (s.conv_height / s.pool) * (s.conv_width / s.pool);
    T sum = T(0);
    for (std::size_t image = 0; image < s.batch; ++image) {
      const std::size_t at = (image * s.out + channel) * places;
      for (std::size_t i = at; i < at + places; ++i) {
        sum += with_relu && y[i] <= T(0) ? T(0) : dy[i];
      }
    }
    dbias[channel] = add ? dbias[channel] + sum : sum;
  }
};

}  // namespace shoal::ops::kernels
