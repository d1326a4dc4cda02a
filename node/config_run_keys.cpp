#include <algorithm>
#include <map>

#include "node/config.h"
#include "node/config_build.h"

/// What peers of one run must agree on.
namespace shoal::node {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 16;

using Lines = std::map<std::string, std::string, std::less<>>;

Result<Lines> split_lines(std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return network_error("the keys of the run are longer than 64 KiB");
  }
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos ||
        !lines.emplace(line.substr(0, equals), line.substr(equals + 1)).second) {
      return network_error("the keys of the run hold a line that is no key, or a key twice");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Whether `key` belongs to a plug-in kind for which the run chose another plug-in than we did.
bool chosen_otherwise(const Schema& schema, const Config& config, const Lines& lines,
                      const std::string& key) {
  for (const auto& kind : schema.kinds) {
    const auto it = lines.find(kind.table + "." + kind.selector);
    if (it == lines.end() || config.find(kind.table + "." + kind.selector) == nullptr ||
        it->second == config.chosen(kind.id)) {
      continue;
    }
    const Options options = config.plugin_options(kind.id);
    for (const auto& [name, value] : options.values()) {
      if (key == kind.table + "." + kind.prefix + name) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string Config::run_keys() const {
  std::string out;
  for (const auto& [key, entry] : entries_) {
    if (entry.scope == Scope::kRun) {
      out += key + "=" + option_text(entry.value) + "\n";
    }
  }
  return out;
}

Hash256 Config::run_keys_hash() const { return Hasher().add(run_keys()).finish(); }

Result<std::vector<std::string>> Config::apply_run_keys(std::string_view text) {
  SHOAL_ASSIGN(const Lines lines, split_lines(text));
  std::vector<Setting> settings;
  std::vector<std::string> sentences;
  const auto set_aside = [&](const std::string& key, const Entry& entry, const std::string& why) {
    sentences.push_back(key + " = " + option_text(entry.value) + " (" + entry.origin.text() +
                        ") is set aside: " + why);
  };
  for (const auto& [key, entry] : entries_) {
    if (entry.origin.kind == Origin::Kind::kDefault) {
      continue;
    }
    const auto theirs = lines.find(key);
    if (entry.scope == Scope::kPeer && !chosen_otherwise(*schema_, *this, lines, key)) {
      settings.push_back({key, Setting::Form::kText, option_text(entry.value), entry.origin});
    } else if (theirs == lines.end()) {
      set_aside(key, entry, "the run has no such key");
    } else if (theirs->second != option_text(entry.value)) {
      set_aside(key, entry, "the run has " + theirs->second);
    }
  }
  for (const auto& [key, value] : lines) {
    settings.push_back({key, Setting::Form::kText, value, {Origin::Kind::kRun, "the run"}});
  }
  auto built = ConfigBuilder(schema_).build(settings);
  if (!built.ok()) {
    return network_error("the keys of the run don't fit this version of shoal: " +
                         built.error().message);
  }
  for (const auto& [key, entry] : built->entries_) {
    if ((entry.scope == Scope::kRun) != (entry.origin.kind == Origin::Kind::kRun)) {
      return network_error(entry.scope == Scope::kRun
                               ? "the keys of the run lack " + key
                               : "the keys of the run hold " + key + ", which is a peer's own");
    }
  }
  *this = std::move(built).value();
  return sentences;
}

std::string run_keys_difference(std::string_view ours, std::string_view theirs) {
  const auto a = split_lines(ours);
  const auto b = split_lines(theirs);
  if (!a.ok() || !b.ok()) {
    return "";
  }
  Lines all = *a;
  all.insert(b->begin(), b->end());
  std::string out;
  const auto value_in = [](const Lines& lines, const std::string& key) {
    const auto it = lines.find(key);
    return it == lines.end() ? std::string("nothing") : it->second;
  };
  for (const auto& [key, value] : all) {
    const std::string here = value_in(*a, key);
    const std::string there = value_in(*b, key);
    if (here != there) {
      out.append(key).append(": ").append(here).append(" here, ").append(there).append(" there\n");
    }
  }
  return out;
}

}  // namespace shoal::node
