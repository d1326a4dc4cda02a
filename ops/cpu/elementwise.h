#pragma once

#include <cstddef>

#include "ops/kernels/activation_kind.h"

/// Float32 loops that run on the widest vectors of the machine at hand (Highway's run-time
/// dispatch). Equal to the bodies in kernels/ to the bit: none has a fused or reordered sum.
namespace shoal::ops::cpu {

/// "AVX3", "NEON", ...: what the dispatch chose here.
const char* vector_target();

/// As kernels::Activate.
void activate(const float* x, float* y, std::size_t count, Activation activation);
/// As kernels::AddActivation.
void add_activation(const float* a, const float* b, float* y, std::size_t count,
                    Activation activation);
/// As kernels::BiasActivation over x, y [rows, cols]; bias may be null, y may be x.
void bias_activation(float* x, const float* bias, float* y, std::size_t rows, std::size_t cols,
                     Activation activation);
/// As kernels::BiasActivationBackward over dy [rows, cols]; kept may be null for kNone, dbias may
/// be null.
void bias_activation_backward(const float* kept, float* dy, float* dbias, std::size_t rows,
                              std::size_t cols, Activation activation, bool add);

/// As kernels::Scale and AddScaled.
void scale(float* x, float factor, std::size_t count);
void add_scaled(float* y, float factor, const float* x, std::size_t count);

}  // namespace shoal::ops::cpu
