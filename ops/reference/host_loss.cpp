#include "ops/reference/host_loss.h"

#include "ops/kernels/loss.h"

namespace shoal::ops {

template <typename T>
void HostLossOps<T>::softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                                           const CrossEntropy& options, TensorView dlogits,
                                           TensorView loss, TensorView correct) {
  kernels::for_each_index(
      logits.rows(),
      kernels::SoftmaxCrossEntropy<T>{
          logits.as<T>(), labels.as<std::int32_t>(), static_cast<T>(options.scale),
          static_cast<T>(options.smoothing), options.ignored, options.ignores,
          dlogits.as_or_null<T>(), loss.as<T>(), correct.as<std::int32_t>(), logits.cols()});
}

template <typename T>
void HostLossOps<T>::squared_error(ConstTensorView output, ConstTensorView targets, double scale,
                                   TensorView doutput, TensorView loss) {
  kernels::for_each_index(output.rows(), kernels::SquaredError<T>{
                                             output.as<T>(), targets.as<T>(), static_cast<T>(scale),
                                             doutput.as_or_null<T>(), loss.as<T>(), output.cols()});
}

template <typename T>
void HostLossOps<T>::binary_cross_entropy(ConstTensorView logits, ConstTensorView targets,
                                          double scale, TensorView dlogits, TensorView loss,
                                          TensorView correct) {
  kernels::for_each_index(logits.rows(), kernels::BinaryCrossEntropy<T>{
                                             logits.as<T>(), targets.as<T>(), static_cast<T>(scale),
                                             dlogits.as_or_null<T>(), loss.as<T>(),
                                             correct.as<std::int32_t>(), logits.cols()});
}

template class HostLossOps<float>;
template class HostLossOps<double>;

}  // namespace shoal::ops
