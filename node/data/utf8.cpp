#include "node/data/utf8.h"

#include <string>

namespace shoal::node {
namespace {

struct Lead {
  std::size_t bytes = 0;  ///< of the whole character; 0: no lead
  std::uint32_t value = 0;
  std::uint32_t least = 0;  ///< what a shorter form can't say
};

Lead lead_of(std::uint32_t byte) {
  if (byte < 0x80U) {
    return {1, byte, 0};
  }
  if (byte >= 0xC0U && byte < 0xE0U) {
    return {2, byte & 0x1FU, 0x80};
  }
  if (byte >= 0xE0U && byte < 0xF0U) {
    return {3, byte & 0x0FU, 0x800};
  }
  if (byte >= 0xF0U && byte < 0xF8U) {
    return {4, byte & 0x07U, 0x10000};
  }
  return {};
}

}  // namespace

Result<std::vector<std::uint32_t>> decode_utf8(std::string_view text) {
  std::vector<std::uint32_t> out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
    std::uint32_t value = lead.value;
    bool good = lead.bytes > 0 && lead.bytes <= text.size() - at;
    for (std::size_t i = 1; good && i < lead.bytes; ++i) {
      const std::uint32_t byte = static_cast<unsigned char>(text[at + i]);
      good = (byte & 0xC0U) == 0x80U;
      value = value << 6U | (byte & 0x3FU);
    }
    good =
        good && value >= lead.least && value < kCodePoints && (value < 0xD800U || value > 0xDFFFU);
    if (!good) {
      return data_error("is no UTF-8 text at byte " + std::to_string(at));
    }
    out.push_back(value);
    at += lead.bytes;
  }
  return out;
}

}  // namespace shoal::node
