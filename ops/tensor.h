#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "ops/base/check.h"

namespace shoal::ops {

enum class DType : std::uint8_t { kF32, kF64, kI32, kU8 };
enum class DeviceKind : std::uint8_t { kCpu, kCuda };

constexpr std::size_t dtype_bytes(DType type) {
  return type == DType::kF64 ? 8 : (type == DType::kU8 ? 1 : 4);
}

template <typename T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_same_v<U, float> || std::is_same_v<U, double> ||
                std::is_same_v<U, std::int32_t> || std::is_same_v<U, std::uint8_t>);
  if (std::is_same_v<U, std::uint8_t>) {
    return DType::kU8;
  }
  return std::is_same_v<U, float> ? DType::kF32
                                  : (std::is_same_v<U, double> ? DType::kF64 : DType::kI32);
}

/// Dimensions of a row-major tensor, at most kRankMax of them; a value without allocation.
class Shape {
 public:
  static constexpr std::size_t kRankMax = 6;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// Requires: at most kRankMax dimensions, none negative (checked; judge foreign ones before).
  explicit Shape(std::span<const std::int64_t> dims);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  [[nodiscard]] std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }
  [[nodiscard]] std::size_t elements() const;
  /// The last dimension (1 for rank 0) and the product of all others.
  [[nodiscard]] std::size_t cols() const;
  [[nodiscard]] std::size_t rows() const;
  /// `n` put before the dimensions. Requires: rank() < kRankMax.
  [[nodiscard]] Shape with_batch(std::size_t n) const;
  /// All but the first dimension. Requires: rank() > 0.
  [[nodiscard]] Shape without_batch() const;
  /// The last dimension replaced. Requires: rank() > 0.
  [[nodiscard]] Shape with_cols(std::int64_t n) const;
  /// "[64, 784]".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kRankMax> dims_{};
  std::size_t rank_ = 0;
};

/// Contiguous row-major numbers somewhere, borrowed: never owns, cheap to copy. `device` says
/// whose address space `data` is in; only kCpu data may be read through as().
template <bool kConst>
struct BasicView {
  using Void = std::conditional_t<kConst, const void, void>;

  Void* data = nullptr;
  Shape shape;
  DType dtype = DType::kF32;
  DeviceKind device = DeviceKind::kCpu;

  BasicView() = default;
  BasicView(Void* data_in, Shape shape_in, DType dtype_in, DeviceKind device_in = DeviceKind::kCpu)
      : data(data_in), shape(shape_in), dtype(dtype_in), device(device_in) {}
  /// A view for reading of one that may be written.
  template <bool kOther, typename = std::enable_if_t<kConst && !kOther>>
  BasicView(const BasicView<kOther>& other)  // NOLINT: implicit on purpose
      : data(other.data), shape(other.shape), dtype(other.dtype), device(other.device) {}

  [[nodiscard]] bool empty() const { return data == nullptr; }
  [[nodiscard]] std::size_t elements() const { return shape.elements(); }
  [[nodiscard]] std::size_t bytes() const { return elements() * dtype_bytes(dtype); }
  [[nodiscard]] std::size_t rows() const { return shape.rows(); }
  [[nodiscard]] std::size_t cols() const { return shape.cols(); }
  /// Requires: T is the view's type (checked).
  template <typename T>
  [[nodiscard]] auto as() const {
    SHOAL_CHECK(dtype_of<T>() == dtype, "a view is read as the type it has");
    return static_cast<std::conditional_t<kConst, const T, T>*>(data);
  }
  /// Alike, but a null pointer for an empty view: what is optional.
  template <typename T>
  [[nodiscard]] auto as_or_null() const {
    return empty() ? nullptr : as<T>();
  }
  template <typename T>
  [[nodiscard]] auto span() const {
    return std::span(as<T>(), elements());
  }
  /// The same numbers under another shape. Requires: as many elements (checked).
  [[nodiscard]] BasicView reshape(const Shape& other) const {
    SHOAL_CHECK(other.elements() == elements(), "reshape keeps the number of elements");
    return {data, other, dtype, device};
  }
  /// Elements [begin, begin + count) as a vector. Requires: inside (checked).
  [[nodiscard]] BasicView slice(std::size_t begin, std::size_t count) const {
    SHOAL_CHECK(begin <= elements() && count <= elements() - begin, "a slice lies inside");
    using Byte = std::conditional_t<kConst, const std::byte, std::byte>;
    return {static_cast<Byte*>(data) + begin * dtype_bytes(dtype),
            Shape{static_cast<std::int64_t>(count)}, dtype, device};
  }
};

using TensorView = BasicView<false>;
using ConstTensorView = BasicView<true>;

/// Host memory of plain numbers as a view.
template <typename T>
auto host_view(T* data, Shape shape) {
  return BasicView<std::is_const_v<T>>(data, shape, dtype_of<T>(), DeviceKind::kCpu);
}

/// How memory is given back to what allocated it.
struct StorageDeleter {
  void (*free)(void* data, void* owner) = nullptr;
  void* owner = nullptr;
  void operator()(void* data) const { free(data, owner); }
};

/// Owned memory of one device. Requires: what allocated it lives longer.
class Storage {
 public:
  Storage() = default;
  Storage(void* data, std::size_t bytes, StorageDeleter deleter)
      : data_(data, deleter), bytes_(bytes) {}

  [[nodiscard]] void* data() const { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, StorageDeleter> data_;
  std::size_t bytes_ = 0;
};

}  // namespace shoal::ops
