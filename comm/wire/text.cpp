#include "comm/wire/text.h"

#include <cstdint>

namespace shoal::comm {
namespace {

/// One character at the front of a text.
struct Character {
  std::size_t bytes = 1;
  bool valid = false;
  bool control = false;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) {
    return {1, true, lead < 0x20 || lead == 0x7f};
  }
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) {
    return {};
  }
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return {};
    }
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kShortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kShortest[bytes] || code > 0x10ffff || surrogate) {
    return {};
  }
  // C1 controls, line separators, and what turns the direction of text on a terminal.
  const bool control = code < 0xa0 || code == 0x2028 || code == 0x2029 ||
                       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return {bytes, true, control};
}

}  // namespace

bool is_clean_text(std::string_view text, std::size_t bytes_max, bool lines) {
  if (text.size() > bytes_max) {
    return false;
  }
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool line_feed = lines && text.front() == '\n';
    if (!c.valid || (c.control && !line_feed)) {
      return false;
    }
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool good = c.valid && !c.control;
    const std::string_view piece = good ? text.substr(0, c.bytes) : "?";
    if (out.size() + piece.size() > bytes_max) {
      break;
    }
    out += piece;
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace shoal::comm
