#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shoal {

static_assert(sizeof(float) == 4 && sizeof(double) == 8);

using ByteSpan = std::span<const std::byte>;

/// An immutable, reference-counted run of bytes: a view that keeps its buffer alive, so one answer
/// goes to many peers without a copy. Copying costs a counter.
class Bytes {
 public:
  Bytes() = default;
  /// Takes the vector; no copy of its contents.
  explicit Bytes(std::vector<std::byte> data)
      : owner_(std::make_shared<const std::vector<std::byte>>(std::move(data))) {
    view_ = {static_cast<const std::vector<std::byte>*>(owner_.get())->data(),
             static_cast<const std::vector<std::byte>*>(owner_.get())->size()};
  }
  /// Keeps `owner` alive for as long as the view lives.
  Bytes(std::shared_ptr<const void> owner, ByteSpan view) : owner_(std::move(owner)), view_(view) {}
  static Bytes copy_of(ByteSpan view) { return Bytes(std::vector(view.begin(), view.end())); }

  [[nodiscard]] ByteSpan span() const { return view_; }
  [[nodiscard]] const std::byte* data() const { return view_.data(); }
  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  /// A part of the same buffer. Requires: offset + count <= size().
  [[nodiscard]] Bytes slice(std::size_t offset, std::size_t count) const {
    return {owner_, view_.subspan(offset, count)};
  }

 private:
  std::shared_ptr<const void> owner_;
  ByteSpan view_;
};

/// Appends little-endian values to a growing buffer.
class ByteWriter {
 public:
  template <typename T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    // Little-endian hosts only. Not insert(): g++ 12 warns of an overflow there that can't be.
    std::memcpy(grow(sizeof(T)).data(), &value, sizeof(T));
  }
  void put_bytes(ByteSpan bytes) {
    const auto room = grow(bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
  }
  /// Length (u32) then the characters.
  void put_string(std::string_view s) {
    put(static_cast<std::uint32_t>(s.size()));
    put_bytes(std::as_bytes(std::span(s.data(), s.size())));
  }
  /// Grows by `count` bytes and returns the new room, to be filled before the next call.
  std::span<std::byte> grow(std::size_t count) {
    if (count > data_.size() - size_) {
      data_.resize(size_ + count);
    }
    size_ += count;
    return std::span(data_).subspan(size_ - count, count);
  }
  /// Makes room for `count` bytes more, so that writing them moves nothing.
  void reserve(std::size_t count) { data_.reserve(size_ + count); }
  /// Drops everything past `size`. Requires: size <= size().
  void truncate(std::size_t size) { size_ = size; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] ByteSpan span() const { return ByteSpan(data_).first(size_); }
  std::vector<std::byte> take() {
    data_.resize(std::exchange(size_, 0));
    return std::move(data_);
  }
  Bytes take_bytes() { return Bytes(take()); }

 private:
  std::vector<std::byte> data_;  // what lies behind size_ has been written before, or is zero
  std::size_t size_ = 0;
};

/// Reads little-endian values; every read says whether the bytes were there. Safe on hostile input.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan data) : data_(data) {}

  template <typename T>
  [[nodiscard]] bool get(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    if (data_.size() < sizeof(T)) {
      return false;
    }
    std::memcpy(&value, data_.data(), sizeof(T));
    data_ = data_.subspan(sizeof(T));
    return true;
  }
  [[nodiscard]] bool get_bytes(std::size_t count, ByteSpan& out) {
    if (data_.size() < count) {
      return false;
    }
    out = data_.first(count);
    data_ = data_.subspan(count);
    return true;
  }
  [[nodiscard]] bool get_string(std::string& out, std::size_t max) {
    std::uint32_t size = 0;
    ByteSpan raw;
    if (!get(size) || size > max || !get_bytes(size, raw)) {
      return false;
    }
    out.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    return true;
  }
  [[nodiscard]] std::size_t left() const { return data_.size(); }
  [[nodiscard]] ByteSpan rest() const { return data_; }

 private:
  ByteSpan data_;
};

std::string to_hex(ByteSpan bytes);
/// Decodes lower- or upper-case hex; false when it is not hex of exactly `out.size()` bytes.
bool from_hex(std::string_view text, std::span<std::byte> out);

}  // namespace shoal
