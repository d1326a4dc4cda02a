#include "ops/reference/host_norm.h"

#include "ops/kernels/norm.h"

namespace shoal::ops {

using kernels::for_each_index;

template <typename T>
void HostNormOps<T>::row_norm(const NormSizes& s, bool centered, ConstTensorView x,
                              ConstTensorView weight, ConstTensorView bias, TensorView y,
                              TensorView stats) {
  for_each_index(s.rows, kernels::RowNorm<T>{s, x.as<T>(), weight.as<T>(), bias.as_or_null<T>(),
                                             y.as<T>(), stats.as<T>(), centered});
}

template <typename T>
void HostNormOps<T>::row_norm_backward(const NormSizes& s, bool centered, const Backward& pass) {
  const bool add = pass.into == Into::kAdd;
  // Parameters first, since dx may be dy.
  if (!pass.dweight.empty() || !pass.dbias.empty()) {
    for_each_index(kernels::norm_channels(s),
                   kernels::RowNormParameters<T>{s, pass.x.as<T>(), pass.stats.as<T>(),
                                                 pass.dy.as<T>(), pass.dweight.as_or_null<T>(),
                                                 pass.dbias.as_or_null<T>(), add});
  }
  if (!pass.dx.empty()) {
    for_each_index(s.rows, kernels::RowNormBackward<T>{s, pass.x.as<T>(), pass.weight.as<T>(),
                                                       pass.stats.as<T>(), pass.dy.as<T>(),
                                                       pass.dx.as<T>(), centered});
  }
}

template <typename T>
void HostNormOps<T>::batch_stats(const BatchNormSizes& s, ConstTensorView x, TensorView stats) {
  for_each_index(s.channels, kernels::BatchStats<T>{s, x.as<T>(), stats.as<T>()});
}

template <typename T>
void HostNormOps<T>::running_stats(double epsilon, ConstTensorView mean, ConstTensorView variance,
                                   TensorView stats) {
  for_each_index(mean.elements(),
                 kernels::RunningStats<T>{epsilon, mean.as<T>(), variance.as<T>(), stats.as<T>()});
}

template <typename T>
void HostNormOps<T>::batch_norm(const BatchNormSizes& s, ConstTensorView x, ConstTensorView stats,
                                ConstTensorView weight, ConstTensorView bias, TensorView y) {
  for_each_index(y.elements(), kernels::BatchNormApply<T>{s, x.as<T>(), stats.as<T>(),
                                                          weight.as<T>(), bias.as<T>(), y.as<T>()});
}

template <typename T>
void HostNormOps<T>::batch_norm_backward(const BatchNormSizes& s, bool fixed, const Backward& pass,
                                         TensorView sums) {
  for_each_index(s.channels,
                 kernels::BatchNormSums<T>{s, pass.x.as<T>(), pass.stats.as<T>(), pass.dy.as<T>(),
                                           sums.as<T>(), pass.dweight.as_or_null<T>(),
                                           pass.dbias.as_or_null<T>(), pass.into == Into::kAdd});
  if (!pass.dx.empty()) {
    for_each_index(
        pass.dx.elements(),
        kernels::BatchNormBackward<T>{s, pass.x.as<T>(), pass.stats.as<T>(), pass.weight.as<T>(),
                                      sums.as<T>(), pass.dy.as<T>(), pass.dx.as<T>(), fixed});
  }
}

template <typename T>
void HostNormOps<T>::running_update(const BatchNormSizes& s, double momentum, ConstTensorView stats,
                                    TensorView mean, TensorView variance, TensorView batches) {
  for_each_index(s.channels, kernels::RunningUpdate<T>{
                                 stats.as<T>(), mean.as<T>(), variance.as<T>(), batches.as<T>(),
                                 static_cast<T>(momentum), static_cast<T>(unbiased_factor(s))});
}

template class HostNormOps<float>;
template class HostNormOps<double>;

}  // namespace shoal::ops
