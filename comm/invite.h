#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/address.h"
#include "comm/identity.h"
#include "ops/base/result.h"

namespace shoal::comm {

/// One pasteable line that lets others into a run. It holds the key of a *guest*, good for one
/// thing: to connect to the inviter and enrol a key of one's own. Whoever has the line can join.
/// The guest's key follows from the inviter's secret and the run, so nothing is stored, a token
/// may be printed again, and several may use it, one after the other.
struct Invite {
  std::uint64_t run = 0;
  std::string run_name;  ///< cut to 32 bytes
  std::vector<Address> addresses;
  PeerId inviter;
  Seed guest_seed{};

  /// At most four addresses are carried.
  static Invite make(const Identity& inviter, std::uint64_t run, std::string_view run_name,
                     const std::vector<std::string>& addresses);
  /// The key with which a joiner introduces itself.
  [[nodiscard]] Identity guest() const { return Identity::from_seed(guest_seed); }

  /// "shoal1" and letters and digits without those that look alike; 170 to 300 characters.
  [[nodiscard]] std::string encode() const;
  /// Reads a line, blanks around it ignored. Any single wrong character is noticed.
  /// Errors: kConfig, "changed or cut short".
  static Result<Invite> decode(std::string_view line);

  friend bool operator==(const Invite&, const Invite&) = default;
};

/// Whether a word was meant to be an invitation (rather than the path of a file), a damaged one
/// too.
bool looks_like_invite(std::string_view word);

}  // namespace shoal::comm
