#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ops/backend.h"
#include "ops/base/result.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// Sum of squares in double and in a fixed order, the same bits on every device: leaves of 256
/// elements (kernels::SumSquares), then the leaves from first to last. A square of a float32 is
/// exact in double, so no float32 overflows.
double sum_squares(std::span<const float> x);

/// Sums of squares of views of one device, with the memory for it.
class SquareSums {
 public:
  /// For calls whose views have at most `leaves` leaves together. Errors: kDevice.
  static Result<SquareSums> make(Backend& backend, std::size_t leaves);
  /// Leaves of a view of so many elements.
  static std::size_t leaves(std::size_t elements);

  /// One sum a view, valid until the next call; waits for the device. Requires: room (checked).
  std::span<const double> of(std::span<const ConstTensorView> views);
  double of(ConstTensorView view) { return of(std::span(&view, 1))[0]; }

 private:
  Backend* backend_ = nullptr;
  Storage device_;
  std::vector<double> host_;
  std::vector<double> sums_;
};

/// What gradients are multiplied with so that a norm is at most `norm_max`: 1 when it is already,
/// or when it is no number (nothing can be mended then).
double clip_factor(double squares, double norm_max);

/// Cuts the L2 norm of all of `x` to at most norm_max; gives what it was. Exact, so all who clip
/// equal numbers clip alike. In an exchange of gradients it belongs after the reduce: cutting each
/// member's part would make many peers another run than one.
/// Source: Pascanu, Mikolov, Bengio, arXiv 1211.5063, algorithm 1.
double clip_norm(std::span<float> x, double norm_max);
/// The same on a device. Requires: `sums` has room for x (checked).
double clip_norm(Backend& backend, TensorView x, double norm_max, SquareSums& sums);

}  // namespace shoal::ops
