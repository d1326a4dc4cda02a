#pragma once

#include <cstddef>

/// Float32 loops that run on the widest vectors of the machine at hand (Highway's run-time
/// dispatch). Equal to the bodies in kernels/ to the bit: none has a fused or reordered sum.
namespace shoal::ops::cpu {

/// "AVX3", "NEON", ...: what the dispatch chose here.
const char* vector_target();

/// As kernels::BiasActivation over y [rows, cols]; bias may be null.
void bias_activation(float* y, const float* bias, std::size_t rows, std::size_t cols,
                     bool with_relu);
/// As kernels::BiasActivationBackward over dy [rows, cols]; y is read only with_relu, dbias may be
/// null.
void bias_activation_backward(const float* y, float* dy, float* dbias, std::size_t rows,
                              std::size_t cols, bool with_relu, bool add);
/// As kernels::AddActivation.
void add_activation(const float* a, const float* b, float* y, std::size_t count, bool with_relu);
/// As kernels::Relu.
void relu(const float* x, float* y, std::size_t count);

/// As kernels::Scale and AddScaled.
void scale(float* x, float factor, std::size_t count);
void add_scaled(float* y, float factor, const float* x, std::size_t count);

}  // namespace shoal::ops::cpu
