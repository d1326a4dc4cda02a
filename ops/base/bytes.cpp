#include "ops/base/bytes.h"

#include <bit>

namespace shoal {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian and this build does not swap");

std::string to_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    out.push_back(kDigits[std::to_integer<unsigned>(b) >> 4U]);
    out.push_back(kDigits[std::to_integer<unsigned>(b) & 15U]);
  }
  return out;
}

namespace {
int digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}
}  // namespace

bool from_hex(std::string_view text, std::span<std::byte> out) {
  if (text.size() != out.size() * 2) {
    return false;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    out[i] = static_cast<std::byte>(high * 16 + low);
  }
  return true;
}

}  // namespace shoal
