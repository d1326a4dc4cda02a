#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ops/base/bytes.h"

namespace shoal {

/// A 256-bit BLAKE2b digest.
struct Hash256 {
  std::array<std::byte, 32> bytes{};

  friend auto operator<=>(const Hash256&, const Hash256&) = default;
  [[nodiscard]] ByteSpan span() const { return bytes; }
  /// 64 hex digits.
  [[nodiscard]] std::string hex() const { return to_hex(bytes); }
  [[nodiscard]] bool is_zero() const { return *this == Hash256{}; }
};

/// Streaming BLAKE2b-256 (libsodium's crypto_generichash). Feeding bytes in any cuts gives one
/// digest; each Hasher is used for one digest.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& add(ByteSpan bytes);
  Hasher& add(std::string_view text);
  Hasher& add_u64(std::uint64_t value);
  Hash256 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Hash256 hash_of(ByteSpan bytes);

}  // namespace shoal
