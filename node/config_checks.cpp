#include <algorithm>

#include "comm/address.h"
#include "node/config_build.h"
#include "node/run/roster.h"
#include "node/units.h"

/// What one key's range can't say.
namespace shoal::node {
namespace {

using Entries = std::map<std::string, Config::Entry, std::less<>>;

Error at(const Config::Entry& entry, const std::string& sentence) {
  return config_error(entry.origin.text() + ": " + sentence);
}

/// Length of the UTF-8 sequence that `text` starts with; 0 when it is none.
std::size_t sequence_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size == 0 || size > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  // Overlong forms, surrogates and what lies past the last code point.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return size;
}

/// Strings go into logs, tables and the run's keys, one key a line: no control characters.
bool printable(std::string_view text) {
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t size = sequence_bytes(text);
    if (size == 0 || c < 0x20 || c == 0x7F) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

/// What a list is written with in a run's keys and on a command line can't stand in its items.
bool plain_item(const std::string& item) {
  return !item.empty() && printable(item) && item.find_first_of(",\"") == item.npos &&
         item.front() != ' ' && item.back() != ' ';
}

Status check_texts(const Entries& entries) {
  for (const auto& [key, entry] : entries) {
    if (const auto* text = std::get_if<std::string>(&entry.value); text && !printable(*text)) {
      return at(entry, key + " must be printable UTF-8 on one line");
    }
    if (const auto* list = std::get_if<std::vector<std::string>>(&entry.value)) {
      const auto odd = std::find_if_not(list->begin(), list->end(), plain_item);
      if (odd != list->end()) {
        return at(entry,
                  key + " holds \"" + *odd +
                      "\"; items are not empty, have no commas or quotes, and no spaces around "
                      "them");
      }
    }
  }
  return {};
}

/// The name of a run becomes a folder, also on a peer that took it from the run.
bool folder_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

template <typename Parse>
Status check_unit(const Entries& entries, std::string_view key, Parse parse) {
  if (const auto it = entries.find(key); it != entries.end()) {
    const auto parsed = parse(std::get<std::string>(it->second.value));
    if (!parsed.ok()) {
      return at(it->second, it->first + ": " + parsed.error().message);
    }
  }
  return {};
}

/// An address that nobody can dial would look like a dead network.
Status check_addresses(const Entries& entries) {
  if (const auto it = entries.find("swarm.listen"); it != entries.end()) {
    const auto& listen = std::get<std::string>(it->second.value);
    if (!comm::Address{listen, 0}.numeric()) {
      return at(it->second, "swarm.listen: \"" + listen +
                                "\" is no numeric address of this machine; :: listens on all");
    }
  }
  if (const auto it = entries.find("swarm.announce"); it != entries.end()) {
    for (const auto& item : std::get<std::vector<std::string>>(it->second.value)) {
      const auto address = comm::parse_address(item);
      if (!address.ok()) {
        return at(it->second, "swarm.announce: " + address.error().message);
      }
    }
  }
  if (const auto it = entries.find("swarm.roster"); it != entries.end()) {
    const auto peers = parse_roster(std::get<std::vector<std::string>>(it->second.value));
    if (!peers.ok()) {
      return at(it->second, peers.error().message);
    }
  }
  return {};
}

/// In private mode data.parts = 0 follows swarm.peers, so that the run's keys say how many parts
/// there are; in shared mode nobody asks.
Status finish_parts(Entries& entries) {
  const auto parts = entries.find("data.parts");
  const auto part = entries.find("data.part");
  const auto peers = entries.find("swarm.peers");
  const auto mode = entries.find("data.mode");
  if (parts == entries.end() || part == entries.end() || peers == entries.end() ||
      mode == entries.end() || std::get<std::string>(mode->second.value) != "private") {
    return {};
  }
  if (std::get<std::int64_t>(parts->second.value) == 0) {
    parts->second.value = peers->second.value;
    parts->second.origin.where = "as swarm.peers";
    parts->second.origin.kind = Origin::Kind::kDefault;
  }
  if (std::get<std::int64_t>(part->second.value) >= std::get<std::int64_t>(parts->second.value)) {
    return at(part->second, "data.part is " + option_text(part->second.value) +
                                ", but the parts are numbered from 0 to data.parts - 1 = " +
                                option_text(std::get<std::int64_t>(parts->second.value) - 1));
  }
  return {};
}

}  // namespace

Status finish_config(Entries& entries) {
  SHOAL_TRY(check_texts(entries));
  if (const auto it = entries.find("name"); it != entries.end()) {
    const auto& name = std::get<std::string>(it->second.value);
    if (!folder_name(name)) {
      return at(it->second, "name is \"" + name +
                                "\"; a run's name has up to 64 letters, digits, -, _ and . and "
                                "does not begin with a point");
    }
  }
  SHOAL_TRY(check_unit(entries, "limits.rate_up", parse_rate));
  SHOAL_TRY(check_unit(entries, "limits.rate_down", parse_rate));
  SHOAL_TRY(check_unit(entries, "limits.memory", parse_bytes));
  SHOAL_TRY(check_unit(entries, "limits.hours", parse_hours));
  SHOAL_TRY(check_addresses(entries));
  return finish_parts(entries);
}

}  // namespace shoal::node
