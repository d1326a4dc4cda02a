#pragma once

#include <cstdint>
#include <string_view>

#include "ops/base/bytes.h"

namespace shoal::ops::onnx {

/// One protobuf message being written: fields with their numbers, in any order. Nothing here can
/// fail. Source: Protocol Buffers, "Encoding": a tag is (field << 3) | wire type, varints (0) are
/// seven bits a byte, least first; fixed32 (5); length-delimited (2).
class Message {
 public:
  void integer(std::uint32_t field, std::int64_t value);
  void real(std::uint32_t field, float value);
  void bytes(std::uint32_t field, ByteSpan value);
  void text(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, const Message& value) { bytes(field, value.span()); }

  [[nodiscard]] ByteSpan span() const { return out_.span(); }
  Bytes take() { return out_.take_bytes(); }

 private:
  void varint(std::uint64_t value);

  ByteWriter out_;
};

}  // namespace shoal::ops::onnx
