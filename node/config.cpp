#include "node/config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "node/config_build.h"
#include "node/units.h"
#include "ops/base/check.h"

extern char** environ;

namespace shoal::node {
namespace {

/// SHOAL_TRAIN_BATCH for train.batch, SHOAL_COMPRESS_TOP_K_DENSITY for compress.top-k.density.
std::string variable_name(std::string_view key) {
  std::string name = "SHOAL_";
  for (const char c : key) {
    name +=
        c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

/// Variables that no key has are other programs' business, unless they begin like a table: those
/// are misspelt.
Status read_environment(const Schema& schema, const std::map<std::string, std::string>& environment,
                        std::vector<Setting>& out) {
  std::map<std::string, std::string> keys;
  std::vector<std::string> names;
  for (const auto& key : all_keys(schema)) {
    names.push_back(variable_name(key));
    keys[names.back()] = key;
  }
  for (const auto& [name, value] : environment) {
    if (const auto it = keys.find(name); it != keys.end()) {
      out.push_back({it->second, Setting::Form::kText, value, {Origin::Kind::kEnvironment, name}});
      continue;
    }
    for (const auto& table : schema.tables) {
      if (!table.name.empty() && name.starts_with(variable_name(table.name) + "_")) {
        const std::string close = nearest(name, names);
        return config_error("environment variable " + name + " stands for no key" +
                            (close.empty() ? "" : "; did you mean " + close + "?"));
      }
    }
  }
  return {};
}

Status read_flags(const std::vector<std::string>& settings, std::vector<Setting>& out) {
  for (const auto& text : settings) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return config_error("--set " + text + ": write --set table.key=value");
    }
    out.push_back({text.substr(0, equals),
                   Setting::Form::kText,
                   text.substr(equals + 1),
                   {Origin::Kind::kFlag, "--set " + text}});
  }
  return {};
}

}  // namespace

const Config::Entry* Config::find(std::string_view key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

template <typename T>
const T& Config::get(std::string_view key) const {
  const Entry* entry = find(key);
  SHOAL_CHECK(entry != nullptr, "a configuration key is in the schema before it is read");
  const T* value = std::get_if<T>(&entry->value);
  SHOAL_CHECK(value != nullptr, "a configuration key is read as the type it was declared with");
  return *value;
}

bool Config::get_bool(std::string_view key) const { return get<bool>(key); }
std::int64_t Config::get_int(std::string_view key) const { return get<std::int64_t>(key); }
double Config::get_float(std::string_view key) const { return get<double>(key); }
const std::string& Config::get_string(std::string_view key) const { return get<std::string>(key); }
Duration Config::get_duration(std::string_view key) const { return get<Duration>(key); }
const std::vector<std::string>& Config::get_strings(std::string_view key) const {
  return get<std::vector<std::string>>(key);
}
double Config::get_rate(std::string_view key) const { return parse_rate(get_string(key)).value(); }
std::uint64_t Config::get_bytes(std::string_view key) const {
  return parse_bytes(get_string(key)).value();
}

const std::string& Config::chosen(std::string_view kind_id) const {
  const PluginKind* kind = schema_->kind(kind_id);
  SHOAL_CHECK(kind != nullptr, "a kind of plug-in is in the schema before it is asked for");
  return get_string(kind->table + "." + kind->selector);
}

Options Config::plugin_options(std::string_view kind_id) const {
  const std::string& name = chosen(kind_id);
  const PluginKind& kind = *schema_->kind(kind_id);
  Options options;
  for (const auto& plugin : kind.plugins) {
    if (plugin.name == name) {
      for (const auto& spec : plugin.options) {
        options.set(spec.name, find(kind.table + "." + kind.prefix + spec.name)->value);
      }
    }
  }
  return options;
}

Options Config::table_options(std::string_view table) const {
  Options options;
  const std::string prefix = table.empty() ? "" : std::string(table) + ".";
  for (const auto& [key, entry] : entries_) {
    if (key.starts_with(prefix) && key.find('.', prefix.size()) == std::string::npos) {
      options.set(key.substr(prefix.size()), entry.value);
    }
  }
  return options;
}

Result<Config> parse_config(const Schema& schema, std::string_view text, const std::string& name,
                            const ConfigSources& sources) {
  SHOAL_ASSIGN(auto settings, read_toml(text, name));
  SHOAL_TRY(read_environment(schema, sources.environment, settings));
  SHOAL_TRY(read_flags(sources.settings, settings));
  return ConfigBuilder(std::make_shared<const Schema>(schema)).build(settings);
}

Result<Config> load_config(const Schema& schema, const ConfigSources& sources) {
  if (!sources.file) {
    return parse_config(schema, "", "", sources);
  }
  std::ifstream in(*sources.file, std::ios::binary);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(*sources.file, ignored)) {
    return config_error(*sources.file + " can't be read; is the path right?");
  }
  // One byte more than may be: a device or a pipe that never ends is not read to its end.
  std::string text(kTomlBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse_config(schema, text, *sources.file, sources);
}

std::map<std::string, std::string> shoal_environment() {
  std::map<std::string, std::string> variables;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text = *line;
    const auto equals = text.find('=');
    if (text.starts_with("SHOAL_") && equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

}  // namespace shoal::node
