#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ops/backend.h"
#include "ops/parameters.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// One tensor in a flat array, padding left out.
struct FlatTensor {
  std::size_t begin = 0;  ///< local coordinate
  std::size_t elements = 0;
  bool is_vector = false;  ///< one dimension: a bias, the scale of a norm
};

/// Which global coordinates a flat array holds: the ranges of `held`, in order, side by side. The
/// whole model holds [0, flat_size()), and local and global coordinates are the same.
class FlatSpace {
 public:
  FlatSpace() = default;
  /// Coordinates alone: no tensor is known.
  explicit FlatSpace(Ranges held);
  /// Those of a model, with the tensors of the map that lie in them, each whole or not at all.
  FlatSpace(const ParamMap& map, Ranges held);

  [[nodiscard]] const Ranges& held() const { return held_; }
  /// By position, none twice (tied tensors are one). Empty without a map.
  [[nodiscard]] const std::vector<FlatTensor>& tensors() const { return tensors_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool holds(Range global) const;
  /// Position of a coordinate in the array. Requires: held (checked).
  [[nodiscard]] std::size_t local(std::uint64_t global) const;

 private:
  Ranges held_;
  std::vector<std::size_t> starts_;  // local start of each range of held_
  std::vector<FlatTensor> tensors_;
  std::size_t size_ = 0;
};

/// One real for each coordinate of a space, on a device. Padding is zero and stays so.
class FlatArray {
 public:
  /// Zeroed. Errors: kDevice.
  static Result<FlatArray> make(Backend& backend, FlatSpace space);

  [[nodiscard]] const FlatSpace& space() const { return space_; }
  [[nodiscard]] TensorView view() const { return view_; }
  /// Elements of one tensor. Requires: held (checked).
  [[nodiscard]] TensorView view(Range global, const Shape& shape) const;
  /// The array itself. Requires: a float32 host backend (checked; else use read and write).
  [[nodiscard]] std::span<float> host() const { return view_.span<float>(); }
  /// Whether host() may be called.
  [[nodiscard]] bool on_host() const {
    return view_.device == DeviceKind::kCpu && view_.dtype == DType::kF32;
  }
  /// Copies a held range of global coordinates out or in. Requires: held, equal sizes (checked).
  void read(Range global, std::span<float> out) const;
  void write(Range global, std::span<const float> in);
  /// The whole array in local order. Requires: equal sizes (checked).
  void read_all(std::span<float> out) const;
  void write_all(std::span<const float> in);
  void zero() { backend_->zero(view_); }
  /// Every element, padding too: for arrays that are not parameters.
  void fill(float value);

 private:
  Backend* backend_ = nullptr;
  FlatSpace space_;
  Storage storage_;
  TensorView view_;
};

}  // namespace shoal::ops
