#include "comm/identity.h"

#include <sodium.h>

#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>

#include "ops/base/check.h"

namespace shoal::comm {
namespace {

// libsodium counts in unsigned char.
template <typename Container>
auto* raw(Container& bytes) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(bytes.data())>>,
                                  const unsigned char, unsigned char>;
  return reinterpret_cast<Byte*>(bytes.data());
}

void start_sodium() { SHOAL_CHECK(sodium_init() >= 0, "libsodium starts"); }

std::vector<std::byte> with_purpose(SignedAs purpose, ByteSpan message) {
  ByteWriter out;
  out.put_string("shoal signature 1");
  out.put(purpose);
  out.put_bytes(message);
  return out.take();
}

}  // namespace

void fill_random(std::span<std::byte> out) {
  start_sodium();
  randombytes_buf(out.data(), out.size());
}

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  fill_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

Identity Identity::generate() {
  Seed seed;
  fill_random(seed);
  Identity made = from_seed(seed);
  sodium_memzero(seed.data(), seed.size());
  return made;
}

Identity Identity::from_seed(const Seed& seed) {
  start_sodium();
  Identity made;
  made.seed_ = seed;
  crypto_sign_seed_keypair(raw(made.id_.key), raw(made.sign_secret_), raw(seed));
  const bool derived =
      crypto_sign_ed25519_pk_to_curve25519(raw(made.curve_public_), raw(made.id_.key)) == 0 &&
      crypto_sign_ed25519_sk_to_curve25519(raw(made.curve_secret_), raw(made.sign_secret_)) == 0;
  SHOAL_CHECK(derived, "a key pair made from a seed lies on the curve");
  return made;
}

Identity::~Identity() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(sign_secret_.data(), sign_secret_.size());
  sodium_memzero(curve_secret_.data(), curve_secret_.size());
}

Signature Identity::sign(SignedAs purpose, ByteSpan message) const {
  const auto text = with_purpose(purpose, message);
  Signature signature;
  crypto_sign_detached(raw(signature), nullptr, raw(text), text.size(), raw(sign_secret_));
  return signature;
}

bool verify(const PeerId& signer, SignedAs purpose, ByteSpan message, ByteSpan signature) {
  start_sodium();
  if (signature.size() != crypto_sign_BYTES) {
    return false;
  }
  const auto text = with_purpose(purpose, message);
  return crypto_sign_verify_detached(raw(signature), raw(text), text.size(), raw(signer.key)) == 0;
}

Result<CurveKey> curve_key_of(const PeerId& peer) {
  start_sodium();
  CurveKey key;
  if (crypto_sign_ed25519_pk_to_curve25519(raw(key), raw(peer.key)) != 0) {
    return network_error("peer id " + peer.short_id() + " is no valid public key", peer.short_id());
  }
  return key;
}

Result<std::filesystem::path> home_folder() {
  const auto set = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const auto own = set("SHOAL_HOME"); !own.empty()) {
    return std::filesystem::path(own);
  }
  if (const auto xdg = set("XDG_CONFIG_HOME"); !xdg.empty()) {
    return std::filesystem::path(xdg) / "shoal";
  }
  if (const auto home = set("HOME"); !home.empty()) {
    return std::filesystem::path(home) / ".config" / "shoal";
  }
  return config_error("no place for keys: set SHOAL_HOME to a folder of yours");
}

}  // namespace shoal::comm
