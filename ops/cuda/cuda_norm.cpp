#include "ops/cuda/cuda_norm.h"

namespace shoal::ops {
namespace {

ShoalCudaNormBackward pointers(const NormOps::Backward& pass) {
  return {pass.x.as<float>(),
          pass.weight.as<float>(),
          pass.stats.as<float>(),
          pass.dy.as<float>(),
          pass.dx.as_or_null<float>(),
          pass.dweight.as_or_null<float>(),
          pass.dbias.as_or_null<float>(),
          pass.into == Into::kAdd};
}

}  // namespace

void CudaNormOps::row_norm(const NormSizes& s, bool centered, ConstTensorView x,
                           ConstTensorView weight, ConstTensorView bias, TensorView y,
                           TensorView stats) {
  queue_.note(queue_.table.norm.row_norm(queue_.stream, &s, centered, x.as<float>(),
                                         weight.as<float>(), bias.as_or_null<float>(),
                                         y.as<float>(), stats.as<float>()));
}

void CudaNormOps::row_norm_backward(const NormSizes& s, bool centered, const Backward& pass) {
  const ShoalCudaNormBackward p = pointers(pass);
  queue_.note(queue_.table.norm.row_norm_backward(queue_.stream, &s, centered, &p));
}

void CudaNormOps::batch_stats(const BatchNormSizes& s, ConstTensorView x, TensorView stats) {
  queue_.note(queue_.table.norm.batch_stats(queue_.stream, &s, x.as<float>(), stats.as<float>()));
}

void CudaNormOps::running_stats(double epsilon, ConstTensorView mean, ConstTensorView variance,
                                TensorView stats) {
  queue_.note(queue_.table.norm.running_stats(queue_.stream, epsilon, mean.elements(),
                                              mean.as<float>(), variance.as<float>(),
                                              stats.as<float>()));
}

void CudaNormOps::batch_norm(const BatchNormSizes& s, ConstTensorView x, ConstTensorView stats,
                             ConstTensorView weight, ConstTensorView bias, TensorView y) {
  queue_.note(queue_.table.norm.batch_norm(queue_.stream, &s, x.as<float>(), stats.as<float>(),
                                           weight.as<float>(), bias.as<float>(), y.as<float>()));
}

void CudaNormOps::batch_norm_backward(const BatchNormSizes& s, bool fixed, const Backward& pass,
                                      TensorView sums) {
  const ShoalCudaNormBackward p = pointers(pass);
  queue_.note(
      queue_.table.norm.batch_norm_backward(queue_.stream, &s, fixed, &p, sums.as<float>()));
}

void CudaNormOps::running_update(const BatchNormSizes& s, double momentum, ConstTensorView stats,
                                 TensorView mean, TensorView variance, TensorView batches) {
  queue_.note(queue_.table.norm.running_update(
      queue_.stream, &s, static_cast<float>(momentum), static_cast<float>(unbiased_factor(s)),
      stats.as<float>(), mean.as<float>(), variance.as<float>(), batches.as<float>()));
}

}  // namespace shoal::ops
