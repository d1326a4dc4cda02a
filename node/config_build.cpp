#include "node/config_build.h"

#include <algorithm>
#include <utility>

namespace shoal::node {
namespace {

Error at(const Origin& origin, const std::string& sentence) {
  return config_error(origin.text() + ": " + sentence);
}

std::string joined(const std::string& table, const std::string& key) {
  return table.empty() ? key : table + "." + key;
}

const PluginSpec* find_plugin(const PluginKind& kind, std::string_view name) {
  for (const auto& plugin : kind.plugins) {
    if (plugin.name == name) {
      return &plugin;
    }
  }
  return nullptr;
}

std::vector<std::string> names_of(const PluginKind& kind) {
  std::vector<std::string> names;
  for (const auto& plugin : kind.plugins) {
    names.push_back(plugin.name);
  }
  if (!kind.same_as.empty()) {
    names.emplace_back(kSame);
  }
  return names;
}

/// Where else a key of this kind may stand: the sub-table of the plug-in that it belongs to.
std::string nested(const PluginKind& kind, const std::string& key) {
  return kind.table + "." + kind.of_plugin + "." + key;
}

OptionSpec selector_spec(const PluginKind& kind) {
  OptionSpec spec;
  spec.name = joined(kind.table, kind.selector);
  spec.default_value = kind.default_name;
  spec.help = kind.help;
  spec.choices = names_of(kind);
  spec.scope = kind.scope;
  return spec;
}

/// The last part of a dotted key.
std::string_view leaf(std::string_view key) { return key.substr(key.rfind('.') + 1); }

/// What was probably meant: the same word in another table, a similar word in the same table, or
/// something similar at all.
std::string nearest_key(const std::string& key, const std::vector<std::string>& keys) {
  std::vector<std::string> leaves;  // of the same table
  const std::string table = key.substr(0, key.size() - leaf(key).size());
  for (const auto& candidate : keys) {
    if (leaf(candidate) == leaf(key)) {
      return candidate;
    }
    if (candidate.size() - leaf(candidate).size() == table.size() && candidate.starts_with(table)) {
      leaves.emplace_back(leaf(candidate));
    }
  }
  const std::string close = nearest(leaf(key), leaves);
  return close.empty() ? nearest(key, keys) : table + close;
}

/// Why `key` means nothing while another plug-in is chosen.
std::string waits(const PluginKind& kind, const PluginSpec& plugin, const std::string& key,
                  const std::string& chosen) {
  const std::string place = kind.prefix.empty() ? "; in a table [" + kind.table + "." +
                                                      plugin.name + "] it would wait until it is"
                                                : "";
  return key + " is a key of " + joined(kind.table, kind.selector) + " = \"" + plugin.name +
         "\", but \"" + chosen + "\" is chosen" + place;
}

}  // namespace

std::vector<std::string> all_keys(const Schema& schema) {
  std::vector<std::string> keys;
  for (const auto& table : schema.tables) {
    for (const auto& spec : table.options) {
      keys.push_back(joined(table.name, spec.name));
    }
  }
  for (const auto& kind : schema.kinds) {
    keys.push_back(joined(kind.table, kind.selector));
    if (!kind.of_plugin.empty()) {
      keys.push_back(nested(kind, kind.selector));
    }
    for (const auto& plugin : kind.plugins) {
      for (const auto& spec : plugin.options) {
        keys.push_back(joined(kind.table, kind.prefix + spec.name));
        if (!kind.of_plugin.empty()) {
          keys.push_back(nested(kind, kind.prefix + spec.name));
        }
        if (kind.prefix.empty()) {
          keys.push_back(kind.table + "." + plugin.name + "." + spec.name);
        }
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Result<Config> ConfigBuilder::build(const std::vector<Setting>& settings) {
  config_ = Config{};
  config_.schema_ = schema_;
  SHOAL_TRY(choose(settings));
  collect_keys();
  for (const auto& setting : settings) {
    SHOAL_TRY(apply(setting));
  }
  copy_same();
  SHOAL_TRY(finish_config(config_.entries_));
  return std::move(config_);
}

Status ConfigBuilder::choose(const std::vector<Setting>& settings) {
  for (const auto& kind : schema_->kinds) {
    SHOAL_TRY(choose_one(kind, settings));
  }
  for (const auto& kind : schema_->kinds) {
    if (!kind.same_as.empty() && chosen_[kind.id] == kSame) {
      chosen_[kind.id] = chosen_[kind.same_as];
      same_.insert(kind.id);
    }
  }
  return {};
}

Status ConfigBuilder::choose_one(const PluginKind& kind, const std::vector<Setting>& settings) {
  const OptionSpec spec = selector_spec(kind);
  chosen_[kind.id] = kind.default_name;
  for (const auto& setting : settings) {
    const bool inside = !kind.of_plugin.empty() && setting.key == nested(kind, kind.selector);
    if (setting.key == spec.name || inside) {
      const auto value = convert(spec, setting);
      if (!value.ok()) {
        return at(setting.origin, value.error().message);
      }
      chosen_[kind.id] = std::get<std::string>(*value);
    }
  }
  return {};
}

void ConfigBuilder::add_key(std::string name, const OptionSpec& spec, Scope scope,
                            std::string target) {
  Key key{spec, target.empty(), std::move(target), {}};
  key.spec.name = name;
  key.spec.scope = scope;
  if (key.target == name) {
    config_.entries_[name] = {spec.default_value, {}, scope, spec.help};
  }
  keys_.insert_or_assign(std::move(name), std::move(key));
}

void ConfigBuilder::collect_keys() {
  for (const auto& table : schema_->tables) {
    for (const auto& spec : table.options) {
      const std::string name = joined(table.name, spec.name);
      add_key(name, spec, spec.scope, name);
      if (const auto words = table.words.find(spec.name); words != table.words.end()) {
        keys_.at(name).words = words->second;
      }
    }
  }
  for (const auto& kind : schema_->kinds) {
    collect_keys(kind);
  }
}

void ConfigBuilder::collect_keys(const PluginKind& kind) {
  const bool there = applies(kind);
  const OptionSpec selector = selector_spec(kind);
  if (there) {
    add_key(selector.name, selector, selector.scope, selector.name);
  }
  if (!kind.of_plugin.empty()) {
    add_key(nested(kind, kind.selector), selector, selector.scope, there ? selector.name : "");
  }
  for (const auto& plugin : kind.plugins) {
    const bool is_chosen = there && plugin.name == chosen_[kind.id];
    for (const auto& spec : plugin.options) {
      const Scope scope = kind.imposes_scope ? kind.scope : spec.scope;
      const std::string flat = joined(kind.table, kind.prefix + spec.name);
      if (is_chosen) {
        add_key(flat, spec, scope, flat);
      }
      if (kind.prefix.empty()) {
        add_key(kind.table + "." + plugin.name + "." + spec.name, spec, scope,
                is_chosen ? flat : "");
      }
      // Several of this kind's plug-ins may have a key of this name; that of the chosen one counts.
      const std::string inside =
          kind.of_plugin.empty() ? "" : nested(kind, kind.prefix + spec.name);
      if (!inside.empty() && (is_chosen || !keys_.contains(inside))) {
        add_key(inside, spec, scope, is_chosen ? flat : "");
      }
    }
  }
}

/// Whether the kind's keys are there at all.
bool ConfigBuilder::applies(const PluginKind& kind) const {
  return kind.of_kind.empty() || chosen_.at(kind.of_kind) == kind.of_plugin;
}

Status ConfigBuilder::apply(const Setting& setting) {
  if (setting.form == Setting::Form::kTable) {
    return known_table(setting);
  }
  const auto it = keys_.find(setting.key);
  if (it == keys_.end()) {
    return unknown(setting);
  }
  const Words& words = it->second.words;
  const auto word = word_value(words, setting);
  auto value = word ? Result<OptionValue>(*word) : convert(it->second.spec, setting);
  if (!value.ok()) {
    std::string others;
    for (const auto& [name, meaning] : words) {
      others += (others.empty() ? "; or it is " : ", ") + name;
    }
    return at(setting.origin, value.error().message + others);
  }
  if (it->second.set_aside) {
    return {};
  }
  const std::string& target = it->second.target;
  auto& entry = config_.entries_[target];
  if (entry.origin.kind == setting.origin.kind && setting.origin.kind != Origin::Kind::kFlag) {
    return at(setting.origin, target + " is said twice, the other time at " + entry.origin.text());
  }
  entry.value = std::move(value).value();
  entry.origin = setting.origin;
  return {};
}

void ConfigBuilder::copy_same() {
  for (const auto& kind : schema_->kinds) {
    if (!applies(kind)) {
      continue;
    }
    auto& selector = config_.entries_[joined(kind.table, kind.selector)];
    selector.value = chosen_[kind.id];
    if (!same_.contains(kind.id)) {
      continue;
    }
    const PluginKind& other = *schema_->kind(kind.same_as);
    const Origin origin{Origin::Kind::kDefault, "as " + joined(other.table, other.selector)};
    if (selector.origin.kind == Origin::Kind::kDefault) {
      selector.origin = origin;
    }
    for (const auto& spec : find_plugin(kind, chosen_[kind.id])->options) {
      auto& entry = config_.entries_[joined(kind.table, kind.prefix + spec.name)];
      if (entry.origin.kind == Origin::Kind::kDefault) {
        entry.value = config_.entries_[joined(other.table, other.prefix + spec.name)].value;
        entry.origin = origin;
      }
    }
  }
}

Error ConfigBuilder::unknown(const Setting& setting) const {
  const std::string& key = setting.key;
  for (const auto& kind : schema_->kinds) {
    const bool is_selector = key == joined(kind.table, kind.selector);
    for (const auto& plugin : kind.plugins) {
      for (const auto& spec : plugin.options) {
        const bool is_key = key == joined(kind.table, kind.prefix + spec.name);
        if ((is_key || is_selector) && !applies(kind)) {
          const PluginKind& owner = *schema_->kind(kind.of_kind);
          return at(setting.origin, waits(owner, *find_plugin(owner, kind.of_plugin), key,
                                          chosen_.at(kind.of_kind)));
        }
        if (is_key) {
          return at(setting.origin, waits(kind, plugin, key, chosen_.at(kind.id)));
        }
      }
    }
  }
  const std::string close = nearest_key(key, all_keys(*schema_));
  return at(setting.origin, "unknown key " + key +
                                (close.empty() ? "; `shoal config show` lists the keys"
                                               : "; did you mean " + close + "?"));
}

Status ConfigBuilder::known_table(const Setting& setting) const {
  std::vector<std::string> names;
  for (const auto& table : schema_->tables) {
    names.push_back(table.name);
  }
  for (const auto& kind : schema_->kinds) {
    for (const auto& plugin : kind.plugins) {
      if (kind.prefix.empty()) {
        names.push_back(kind.table + "." + plugin.name);
      }
    }
  }
  if (std::find(names.begin(), names.end(), setting.key) != names.end()) {
    return {};
  }
  if (const auto it = keys_.find(setting.key); it != keys_.end()) {
    return at(setting.origin, setting.key + " is a key, not a table");
  }
  const std::string close = nearest(setting.key, names);
  return at(setting.origin, "unknown table [" + setting.key + "]" +
                                (close.empty() ? "" : "; did you mean [" + close + "]?"));
}

std::optional<OptionValue> word_value(const Words& words, const Setting& setting) {
  const bool* flag = std::get_if<bool>(&setting.value);
  const auto* text = std::get_if<std::string>(&setting.value);
  if (setting.form == Setting::Form::kOdd || (flag == nullptr && text == nullptr)) {
    return std::nullopt;
  }
  const auto it = words.find(flag != nullptr ? (*flag ? "true" : "false") : *text);
  return it == words.end() ? std::nullopt : std::optional(it->second);
}

Result<OptionValue> convert(const OptionSpec& spec, const Setting& setting) {
  const auto* text = std::get_if<std::string>(&setting.value);
  if (setting.form == Setting::Form::kText) {
    return parse_option(spec, *text);
  }
  if (setting.form == Setting::Form::kOdd) {
    return config_error(spec.name + " can't be " + *text);
  }
  OptionValue value = setting.value;
  if (const auto* i = std::get_if<std::int64_t>(&value); i && spec.type == OptionType::kFloat) {
    value = static_cast<double>(*i);
  } else if (text != nullptr && spec.type == OptionType::kDuration) {
    return parse_option(spec, *text);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
             list && list->empty() && spec.type == OptionType::kStringList) {
    value = std::vector<std::string>{};
  }
  SHOAL_TRY(check_option(spec, value));
  return value;
}

}  // namespace shoal::node
