#include "node/run/roster.h"

#include <cstring>

#include "comm/address.h"

namespace shoal::node {

Result<std::vector<comm::PeerCard>> parse_roster(const std::vector<std::string>& entries) {
  std::vector<comm::PeerCard> cards;
  for (const std::string& entry : entries) {
    const std::size_t at = entry.find('@');
    comm::PeerCard card;
    if (at == std::string::npos || !from_hex(entry.substr(0, at), card.id.key)) {
      return config_error("swarm.roster: \"" + entry +
                          "\" does not begin with a peer's key, 64 hex digits and @; `shoal "
                          "keygen` prints it");
    }
    auto address = comm::parse_address(entry.substr(at + 1));
    if (!address.ok()) {
      return config_error("swarm.roster: \"" + entry + "\": " + address.error().message);
    }
    card.addresses.push_back(address->text());
    cards.push_back(std::move(card));
  }
  return cards;
}

std::uint64_t run_of(const Config& config) {
  Hasher hasher;
  hasher.add(config.get_string("name"));
  std::uint64_t run = 0;
  std::memcpy(&run, hasher.finish().bytes.data(), sizeof run);
  return run;
}

}  // namespace shoal::node
