#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "ops/base/bytes.h"

namespace shoal::comm {

/// Who a peer is: its Ed25519 public key, as proved by the encrypted session.
struct PeerId {
  std::array<std::byte, 32> key{};

  friend auto operator<=>(const PeerId&, const PeerId&) = default;
  [[nodiscard]] std::string hex() const { return to_hex(key); }
  /// The first 8 hex digits: what people read in tables, logs and folder names.
  [[nodiscard]] std::string short_id() const { return hex().substr(0, 8); }
};

/// One life of a peer: a restarted or re-entering peer is another member under the same identity.
struct MemberId {
  PeerId peer;
  std::uint64_t session = 0;

  friend auto operator<=>(const MemberId&, const MemberId&) = default;
};

}  // namespace shoal::comm

template <>
struct std::hash<shoal::comm::PeerId> {
  std::size_t operator()(const shoal::comm::PeerId& id) const noexcept {
    std::size_t h = 0;
    std::memcpy(&h, id.key.data(), sizeof h);  // keys are uniform already
    return h;
  }
};
