#pragma once

#include <cstddef>

/// Sums and maps of normalisation on the widest vectors of the machine at hand. Sums are split over
/// lanes, so they differ from the kernel bodies by roundings.
namespace shoal::ops::cpu {

/// Sums over x, and over (x - mean)^2.
float sum(const float* x, std::size_t count);
float squares(const float* x, float mean, std::size_t count);

/// What a channel's part of a gradient adds up to: dy, and dy (x - mean) factor.
struct GradientSums {
  float dy;
  float product;
};
GradientSums gradient_sums(const float* x, const float* dy, float mean, float factor,
                           std::size_t count);

/// y = (x - mean) * scale + shift.
void affine(const float* x, float mean, float scale, float shift, float* y, std::size_t count);
/// dx = scale * dy + (x - mean) * slope + shift; dx may be dy.
struct AffineGradient {
  float scale;
  float slope;
  float shift;
};
void affine_gradient(const float* x, float mean, const float* dy, const AffineGradient& g,
                     float* dx, std::size_t count);

/// Layer and RMS norm, a weight an element: y = (x - mean) * factor * weight (+ bias).
void scale_row(const float* x, float mean, float factor, const float* weight, const float* bias,
               float* y, std::size_t count);
/// The way back through one row; dx may be dy; dx, dweight and dbias may be null, the latter two
/// are added to.
struct RowGradient {
  const float* x;
  const float* weight;
  const float* dy;
  float mean;
  float factor;
  bool centered;
  float* dx;
  float* dweight;
  float* dbias;
};
void row_gradient(const RowGradient& row, std::size_t count);

}  // namespace shoal::ops::cpu
