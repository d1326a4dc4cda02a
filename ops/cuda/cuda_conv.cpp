#include "ops/cuda/cuda_conv.h"

#include <algorithm>

#include "ops/kernels/conv.h"

namespace shoal::ops {

CudaConvOps::~CudaConvOps() { release(); }

void CudaConvOps::release() {
  if (scratch_ != nullptr) {
    queue_.note(queue_.table.release(queue_.stream, scratch_));
    scratch_ = nullptr;
    scratch_bytes_ = 0;
  }
}

namespace {

/// Columns and products of one image.
std::size_t image_bytes(const ConvSizes& s) {
  return (kernels::conv_depth(s) + s.out / s.groups) * kernels::conv_places(s) * sizeof(float);
}

}  // namespace

std::size_t CudaConvOps::images_at_once(const ConvSizes& s) {
  return std::clamp<std::size_t>(kScratchBytes / image_bytes(s), 1,
                                 std::max<std::size_t>(s.batch, 1));
}

std::vector<std::size_t> CudaConvOps::scratch_bytes(const ConvSizes& s) {
  return {images_at_once(s) * image_bytes(s)};
}

CudaConvOps::Room CudaConvOps::room(const ConvSizes& s) {
  const std::size_t images = images_at_once(s);
  const std::size_t bytes = images * image_bytes(s);
  if (scratch_bytes_ < bytes) {
    release();
    const auto status = queue_.table.allocate(queue_.stream, bytes, &scratch_);
    queue_.note(status);
    if (status != 0) {
      scratch_ = nullptr;
      return {nullptr, nullptr, images};
    }
    scratch_bytes_ = bytes;
  }
  auto* col = static_cast<float*>(scratch_);
  return {col, col + kernels::conv_depth(s) * images * kernels::conv_places(s), images};
}

void CudaConvOps::conv2d(const ConvSizes& s, ConstTensorView x, ConstTensorView weight,
                         ConstTensorView bias, Activation activation, TensorView y,
                         TensorView argmax) {
  const Room at = room(s);
  if (at.col == nullptr) {
    return;
  }
  const ShoalCudaTable& table = queue_.table;
  const std::size_t depth = kernels::conv_depth(s);
  const std::size_t channels = s.out / s.groups;
  for (std::size_t first = 0; first < s.batch; first += at.images) {
    const std::size_t images = std::min(at.images, s.batch - first);
    const std::size_t cols = images * kernels::conv_places(s);
    for (std::size_t group = 0; group < s.groups; ++group) {
      const ShoalCudaConvPart part{s, first, images, group};
      queue_.note(table.conv.im2col(queue_.stream, &part, x.as<float>(), at.col));
      queue_.note(table.gemm(queue_.stream, 0, 0, channels, cols, depth,
                             weight.as<float>() + group * channels * depth, depth, at.col, cols,
                             at.product, 0));
      queue_.note(table.conv.result(queue_.stream, &part, at.product, bias.as_or_null<float>(),
                                    y.as<float>(), argmax.as_or_null<std::uint8_t>(),
                                    activation == Activation::kRelu));
    }
  }
}

void CudaConvOps::conv2d_backward(const ConvSizes& s, const ConvBackward& pass) {
  const Room at = room(s);
  if (at.col == nullptr) {
    return;
  }
  const ShoalCudaTable& table = queue_.table;
  const bool with_relu = pass.activation == Activation::kRelu;
  const bool add = pass.into == Into::kAdd;
  if (!pass.dbias.empty()) {
    queue_.note(table.conv.bias_backward(queue_.stream, &s, pass.y.as<float>(), pass.dy.as<float>(),
                                         pass.dbias.as<float>(), with_relu, add));
  }
  const std::size_t depth = kernels::conv_depth(s);
  const std::size_t channels = s.out / s.groups;
  for (std::size_t first = 0; first < s.batch; first += at.images) {
    const std::size_t images = std::min(at.images, s.batch - first);
    const std::size_t cols = images * kernels::conv_places(s);
    for (std::size_t group = 0; group < s.groups; ++group) {
      const ShoalCudaConvPart part{s, first, images, group};
      const std::size_t w = group * channels * depth;
      queue_.note(table.conv.result_backward(
          queue_.stream, &part, pass.y.as<float>(), pass.dy.as<float>(),
          pass.argmax.as_or_null<std::uint8_t>(), at.product, with_relu));
      if (!pass.dweight.empty()) {
        queue_.note(table.conv.im2col(queue_.stream, &part, pass.x.as<float>(), at.col));
        queue_.note(table.gemm(queue_.stream, 0, 1, channels, depth, cols, at.product, cols, at.col,
                               cols, pass.dweight.as<float>() + w, add || first > 0));
      }
      if (!pass.dx.empty()) {
        queue_.note(table.gemm(queue_.stream, 1, 0, depth, cols, channels,
                               pass.weight.as<float>() + w, depth, at.product, cols, at.col, 0));
        queue_.note(table.conv.col2im(queue_.stream, &part, at.col, pass.dx.as<float>()));
      }
    }
  }
}

void CudaConvOps::max_pool(const PoolSizes& s, ConstTensorView x, TensorView y, TensorView argmax) {
  queue_.note(queue_.table.conv.max_pool(queue_.stream, &s, x.as<float>(), y.as<float>(),
                                         argmax.as<std::uint8_t>()));
}

void CudaConvOps::max_pool_backward(const PoolSizes& s, ConstTensorView dy, ConstTensorView argmax,
                                    TensorView dx) {
  queue_.note(queue_.table.conv.max_pool_backward(queue_.stream, &s, dy.as<float>(),
                                                  argmax.as<std::uint8_t>(), dx.as<float>()));
}

void CudaConvOps::avg_pool(const PoolSizes& s, ConstTensorView x, TensorView y) {
  queue_.note(queue_.table.conv.avg_pool(queue_.stream, &s, x.as<float>(), y.as<float>()));
}

void CudaConvOps::avg_pool_backward(const PoolSizes& s, ConstTensorView dy, TensorView dx) {
  queue_.note(
      queue_.table.conv.avg_pool_backward(queue_.stream, &s, dy.as<float>(), dx.as<float>()));
}

void CudaConvOps::row_mean(ConstTensorView x, TensorView y) {
  queue_.note(queue_.table.conv.row_mean(queue_.stream, x.as<float>(), y.as<float>(), y.elements(),
                                         x.elements() / y.elements()));
}

void CudaConvOps::row_mean_backward(ConstTensorView dy, TensorView dx) {
  queue_.note(queue_.table.conv.row_mean_backward(queue_.stream, dy.as<float>(), dx.as<float>(),
                                                  dy.elements(), dx.elements() / dy.elements()));
}

}  // namespace shoal::ops
