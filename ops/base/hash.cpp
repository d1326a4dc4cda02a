#include "ops/base/hash.h"

#include <sodium.h>

#include "ops/base/check.h"

namespace shoal {

struct Hasher::State {
  crypto_generichash_state state;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  SHOAL_CHECK(crypto_generichash_init(&state_->state, nullptr, 0, 32) == 0, "BLAKE2b starts");
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::add(ByteSpan bytes) {
  crypto_generichash_update(&state_->state, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

Hasher& Hasher::add_u64(std::uint64_t value) { return add(std::as_bytes(std::span(&value, 1))); }

Hash256 Hasher::finish() {
  Hash256 out;
  crypto_generichash_final(&state_->state, reinterpret_cast<unsigned char*>(out.bytes.data()),
                           out.bytes.size());
  return out;
}

Hash256 hash_of(ByteSpan bytes) { return Hasher().add(bytes).finish(); }

}  // namespace shoal
