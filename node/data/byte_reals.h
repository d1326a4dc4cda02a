#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::node {

/// What a byte of a channel becomes: byte * scale + offset, each rounded once to float, the same on
/// every machine.
struct Affine {
  float scale = 1;
  float offset = 0;

  /// (byte / 255 - mean) / deviation.
  static Affine normal(double mean, double deviation) {
    return {static_cast<float>(1 / (255 * deviation)), static_cast<float>(-mean / deviation)};
  }
};

/// `count` bytes as reals on the widest vectors at hand, alike on all of them.
void put_reals(const std::uint8_t* bytes, std::size_t count, const Affine& affine, float* out);
/// Asks for bytes that will be read soon and lie where the machine does not expect it.
void fetch_bytes(const std::uint8_t* bytes, std::size_t count);

}  // namespace shoal::node
