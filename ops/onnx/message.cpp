#include "ops/onnx/message.h"

namespace shoal::ops::onnx {
namespace {

constexpr std::uint64_t tag(std::uint32_t field, std::uint64_t wire_type) {
  return std::uint64_t{field} << 3U | wire_type;
}

}  // namespace

void Message::varint(std::uint64_t value) {
  while (value >= 0x80) {
    out_.put(static_cast<std::uint8_t>(value | 0x80U));
    value >>= 7U;
  }
  out_.put(static_cast<std::uint8_t>(value));
}

void Message::integer(std::uint32_t field, std::int64_t value) {
  varint(tag(field, 0));
  varint(static_cast<std::uint64_t>(value));
}

void Message::real(std::uint32_t field, float value) {
  varint(tag(field, 5));
  out_.put(value);
}

void Message::bytes(std::uint32_t field, ByteSpan value) {
  varint(tag(field, 2));
  varint(value.size());
  out_.put_bytes(value);
}

void Message::text(std::uint32_t field, std::string_view value) {
  bytes(field, std::as_bytes(std::span(value.data(), value.size())));
}

}  // namespace shoal::ops::onnx
