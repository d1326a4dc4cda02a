#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "comm/peer_id.h"
#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::comm {

using Seed = std::array<std::byte, 32>;
/// A raw X25519 key, as ZeroMQ's CURVE takes it.
using CurveKey = std::array<std::byte, 32>;
using Signature = std::array<std::byte, 64>;

/// What a signature is for: a signature made for one purpose is worth nothing for another.
enum class SignedAs : std::uint8_t { kEnrolment = 1 };

/// Random bytes of the system, for keys and nonces only; whatever a run must repeat draws from Rng.
void fill_random(std::span<std::byte> out);
std::uint64_t random_u64();

/// A peer's key pair: Ed25519 for who it is and what it signs, and the X25519 pair derived from it
/// for the encrypted link, so that one public key names both. Secrets are wiped on destruction.
class Identity {
 public:
  static Identity generate();
  static Identity from_seed(const Seed& seed);
  /// Reads `folder`/identity.key, or creates it with mode 0600, whole or not at all.
  /// Errors: kConfig when others may read the file, when it is damaged, or cannot be written.
  static Result<Identity> load_or_create(const std::filesystem::path& folder);

  Identity(const Identity&) = default;
  Identity(Identity&&) noexcept = default;
  Identity& operator=(const Identity&) = default;
  Identity& operator=(Identity&&) noexcept = default;
  ~Identity();

  [[nodiscard]] const PeerId& id() const { return id_; }
  [[nodiscard]] const Seed& seed() const { return seed_; }
  [[nodiscard]] const CurveKey& curve_public() const { return curve_public_; }
  [[nodiscard]] const CurveKey& curve_secret() const { return curve_secret_; }
  [[nodiscard]] Signature sign(SignedAs purpose, ByteSpan message) const;

 private:
  Identity() = default;
  PeerId id_;
  Seed seed_{};
  std::array<std::byte, 64> sign_secret_{};
  CurveKey curve_public_{};
  CurveKey curve_secret_{};
};

/// Whether `signer` signed this message for this purpose. Any bytes may be passed.
bool verify(const PeerId& signer, SignedAs purpose, ByteSpan message, ByteSpan signature);

/// The key that `peer` uses on encrypted links.
/// Errors: kNetwork when the id is no point of the curve (a made-up key).
Result<CurveKey> curve_key_of(const PeerId& peer);

/// Where keys and settings of this user lie: $SHOAL_HOME, else $XDG_CONFIG_HOME/shoal, else
/// ~/.config/shoal. Errors: kConfig when none is set.
Result<std::filesystem::path> home_folder();

}  // namespace shoal::comm
