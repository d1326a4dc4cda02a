#include "ops/reference/host_conv.h"

#include <cstdint>

#include "ops/kernels/conv.h"
#include "ops/kernels/pool.h"
#include "ops/kernels/product.h"

namespace shoal::ops {

using kernels::for_each_index;

template <typename T>
void HostConvOps<T>::conv2d(const ConvSizes& s, ConstTensorView x, ConstTensorView weight,
                            ConstTensorView bias, Activation activation, TensorView y,
                            TensorView argmax) {
  const std::size_t depth = kernels::conv_depth(s);
  const std::size_t places = kernels::conv_places(s);
  const std::size_t channels = s.out / s.groups;
  const std::size_t results = channels * (s.conv_height / s.pool) * (s.conv_width / s.pool);
  col_.resize(depth * places);
  product_.resize(channels * places);
  for (std::size_t image = 0; image < s.batch; ++image) {
    for (std::size_t group = 0; group < s.groups; ++group) {
      const T* w = weight.as<T>() + group * channels * depth;
      for_each_index(depth * places,
                     kernels::Im2col<T>{s, image, 1, group, x.as<T>(), col_.data()});
      for_each_index(
          channels * places,
          kernels::Product<T>{
              w, {depth, 1}, col_.data(), {places, 1}, product_.data(), places, depth, false});
      for_each_index(
          results, kernels::ConvResult<T>{s, image, 1, group, product_.data(), bias.as_or_null<T>(),
                                          y.as<T>(), argmax.as_or_null<std::uint8_t>(),
                                          activation == Activation::kRelu});
    }
  }
}

template <typename T>
void HostConvOps<T>::conv2d_backward(const ConvSizes& s, const ConvBackward& pass) {
  const bool with_relu = pass.activation == Activation::kRelu;
  const bool add = pass.into == Into::kAdd;
  if (!pass.dbias.empty()) {
    for_each_index(s.out, kernels::ConvBiasBackward<T>{s, pass.y.as<T>(), pass.dy.as<T>(),
                                                       pass.dbias.as<T>(), with_relu, add});
  }
  const std::size_t depth = kernels::conv_depth(s);
  const std::size_t places = kernels::conv_places(s);
  const std::size_t channels = s.out / s.groups;
  col_.resize(depth * places);
  product_.resize(channels * places);
  for (std::size_t image = 0; image < s.batch; ++image) {
    for (std::size_t group = 0; group < s.groups; ++group) {
      const std::size_t w = group * channels * depth;
      for_each_index(channels * places,
                     kernels::ConvResultBackward<T>{
                         s, image, 1, group, pass.y.as<T>(), pass.dy.as<T>(),
                         pass.argmax.as_or_null<std::uint8_t>(), product_.data(), with_relu});
      if (!pass.dweight.empty()) {
        for_each_index(depth * places,
                       kernels::Im2col<T>{s, image, 1, group, pass.x.as<T>(), col_.data()});
        for_each_index(channels * depth, kernels::Product<T>{product_.data(),
                                                             {places, 1},
                                                             col_.data(),
                                                             {1, places},
                                                             pass.dweight.as<T>() + w,
                                                             depth,
                                                             places,
                                                             add || image > 0});
      }
      if (!pass.dx.empty()) {
        for_each_index(depth * places, kernels::Product<T>{pass.weight.as<T>() + w,
                                                           {1, depth},
                                                           product_.data(),
                                                           {places, 1},
                                                           col_.data(),
                                                           places,
                                                           channels,
                                                           false});
        for_each_index(s.in / s.groups * s.height * s.width,
                       kernels::Col2im<T>{s, image, 1, group, col_.data(), pass.dx.as<T>()});
      }
    }
  }
}

template <typename T>
void HostConvOps<T>::max_pool(const PoolSizes& s, ConstTensorView x, TensorView y,
                              TensorView argmax) {
  for_each_index(y.elements(),
                 kernels::MaxPool<T>{s, x.as<T>(), y.as<T>(), argmax.as<std::uint8_t>()});
}

template <typename T>
void HostConvOps<T>::max_pool_backward(const PoolSizes& s, ConstTensorView dy,
                                       ConstTensorView argmax, TensorView dx) {
  for_each_index(dx.elements(),
                 kernels::MaxPoolBackward<T>{s, dy.as<T>(), argmax.as<std::uint8_t>(), dx.as<T>()});
}

template <typename T>
void HostConvOps<T>::avg_pool(const PoolSizes& s, ConstTensorView x, TensorView y) {
  for_each_index(y.elements(), kernels::AvgPool<T>{s, x.as<T>(), y.as<T>()});
}

template <typename T>
void HostConvOps<T>::avg_pool_backward(const PoolSizes& s, ConstTensorView dy, TensorView dx) {
  for_each_index(dx.elements(), kernels::AvgPoolBackward<T>{s, dy.as<T>(), dx.as<T>()});
}

template <typename T>
void HostConvOps<T>::row_mean(ConstTensorView x, TensorView y) {
  for_each_index(y.elements(),
                 kernels::RowMean<T>{x.as<T>(), y.as<T>(), x.elements() / y.elements()});
}

template <typename T>
void HostConvOps<T>::row_mean_backward(ConstTensorView dy, TensorView dx) {
  for_each_index(dx.elements(), kernels::RowMeanBackward<T>{dy.as<T>(), dx.as<T>(),
                                                            dx.elements() / dy.elements()});
}

template class HostConvOps<float>;
template class HostConvOps<double>;

}  // namespace shoal::ops
