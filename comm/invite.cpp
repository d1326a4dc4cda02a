#include "comm/invite.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "comm/wire/text.h"
#include "ops/base/hash.h"

namespace shoal::comm {
namespace {

constexpr std::string_view kPrefix = "shoal1";
// Crockford's alphabet in lower case: no i, l, o, u. Read strictly, so that each token has one
// spelling and a slip of the finger is a changed character.
constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kChecksumBytes = 5;
constexpr std::size_t kRunNameBytesMax = 32;
constexpr std::size_t kAddressesMax = 4;
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kTokenCharsMax = 4096;
constexpr std::size_t kTokenCharsMin = 100;

std::string to_text(ByteSpan bytes) {
  std::string out;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::byte b : bytes) {
    held = (held << 8U) | std::to_integer<std::uint32_t>(b);
    for (bits += 8; bits >= 5; bits -= 5) {
      out.push_back(kAlphabet[(held >> (bits - 5)) & 31U]);
    }
  }
  if (bits > 0) {
    out.push_back(kAlphabet[(held << (5 - bits)) & 31U]);
  }
  return out;
}

std::optional<std::vector<std::byte>> from_text(std::string_view text) {
  std::vector<std::byte> out;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    held = (held << 5U) | static_cast<std::uint32_t>(digit);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<std::byte>((held >> bits) & 255U));
    }
  }
  // What is left over is padding: less than a digit, and zero, or two texts would mean one token.
  if (bits >= 5 || (held & ((1U << bits) - 1U)) != 0) {
    return std::nullopt;
  }
  return out;
}

std::array<std::byte, kChecksumBytes> checksum(ByteSpan content) {
  const Hash256 hash = Hasher().add(kPrefix).add(content).finish();
  std::array<std::byte, kChecksumBytes> out{};
  std::copy_n(hash.bytes.begin(), out.size(), out.begin());
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

bool read(ByteReader& in, Invite& invite) {
  ByteSpan key;
  ByteSpan seed;
  std::uint8_t count = 0;
  if (!in.get(invite.run) || !in.get_bytes(32, key) || !in.get_bytes(32, seed) ||
      !in.get_string(invite.run_name, kRunNameBytesMax) || !in.get(count) ||
      count > kAddressesMax) {
    return false;
  }
  std::copy(key.begin(), key.end(), invite.inviter.key.begin());
  std::copy(seed.begin(), seed.end(), invite.guest_seed.begin());
  for (; count > 0; --count) {
    Address address;
    if (!in.get(address.port) || !in.get_string(address.host, kHostBytesMax) ||
        !parse_address(address.text()).ok()) {
      return false;
    }
    invite.addresses.push_back(std::move(address));
  }
  // All of it is shown to whoever pasted the line.
  return in.left() == 0 && is_clean_text(invite.run_name, kRunNameBytesMax);
}

}  // namespace

Invite Invite::make(const Identity& inviter, std::uint64_t run, std::string_view run_name,
                    const std::vector<std::string>& addresses) {
  Invite invite;
  invite.run = run;
  invite.run_name = clean_text(run_name, kRunNameBytesMax);
  invite.inviter = inviter.id();
  invite.guest_seed =
      Hasher().add("shoal invitation 1").add(inviter.seed()).add_u64(run).finish().bytes;
  for (const std::string& text : addresses) {
    const auto address = parse_address(text);
    if (address.ok() && invite.addresses.size() < kAddressesMax) {
      invite.addresses.push_back(*address);
    }
  }
  return invite;
}

std::string Invite::encode() const {
  ByteWriter out;
  out.put(run);
  out.put_bytes(inviter.key);
  out.put_bytes(guest_seed);
  out.put_string(run_name);
  out.put(static_cast<std::uint8_t>(addresses.size()));
  for (const Address& address : addresses) {
    out.put(address.port);
    out.put_string(address.host);
  }
  const auto sum = checksum(out.span());
  out.put_bytes(sum);
  return std::string(kPrefix) + to_text(out.span());
}

Result<Invite> Invite::decode(std::string_view line) {
  const Error changed = config_error(
      "this invitation was changed or cut short; copy the whole line again, or ask for a new one");
  const std::string_view text = trimmed(line);
  if (!text.starts_with(kPrefix) || text.size() > kTokenCharsMax) {
    return changed;
  }
  const auto bytes = from_text(text.substr(kPrefix.size()));
  if (!bytes || bytes->size() < kChecksumBytes) {
    return changed;
  }
  const ByteSpan content = ByteSpan(*bytes).first(bytes->size() - kChecksumBytes);
  const auto sum = checksum(content);
  if (!std::equal(sum.begin(), sum.end(), bytes->end() - kChecksumBytes)) {
    return changed;
  }
  Invite invite;
  ByteReader in(content);
  if (!read(in, invite)) {
    return changed;
  }
  return invite;
}

bool looks_like_invite(std::string_view word) {
  const std::string_view text = trimmed(word);
  return text.starts_with(kPrefix) ||
         (text.size() >= kTokenCharsMin && text.find('/') == std::string_view::npos &&
          !text.ends_with(".toml"));
}

}  // namespace shoal::comm
