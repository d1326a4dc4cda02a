#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/base/result.h"

namespace shoal::node {

/// The code points of a text. Errors: kData, naming the byte where it is no UTF-8 (also for an
/// overlong form, a surrogate, a value past U+10FFFF). Source: RFC 3629.
Result<std::vector<std::uint32_t>> decode_utf8(std::string_view text);

inline constexpr std::uint32_t kCodePoints = 0x110000;

}  // namespace shoal::node
