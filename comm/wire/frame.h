#pragma once

#include <array>
#include <cstddef>

namespace shoal::comm {

/// What every header frame of every protocol version begins with: magic, then the version (u16)
/// and two bytes that are zero. The FlatBuffer follows at a multiple of 8.
inline constexpr std::array<std::byte, 4> kMagic = {std::byte{'s'}, std::byte{'h'}, std::byte{'o'},
                                                    std::byte{'l'}};
inline constexpr std::size_t kPreambleBytes = 8;

}  // namespace shoal::comm
