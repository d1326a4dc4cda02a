#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/config.h"
#include "node/config_toml.h"

namespace shoal::node {

/// Makes a Config of settings in rising order of precedence: chooses plug-ins, sorts out which key
/// is whose, converts, checks.
class ConfigBuilder {
 public:
  explicit ConfigBuilder(std::shared_ptr<const Schema> schema) : schema_(std::move(schema)) {}

  /// Errors: kConfig, each with the place where the setting was written.
  Result<Config> build(const std::vector<Setting>& settings);

 private:
  struct Key {
    OptionSpec spec;         ///< its name is the full key
    bool set_aside = false;  ///< of a plug-in that is not the chosen one
    std::string target;      ///< the key it counts as
    Words words = {};
  };

  Status choose(const std::vector<Setting>& settings);
  Status choose_one(const PluginKind& kind, const std::vector<Setting>& settings);
  [[nodiscard]] bool applies(const PluginKind& kind) const;
  void collect_keys();
  void collect_keys(const PluginKind& kind);
  void add_key(std::string name, const OptionSpec& spec, Scope scope, std::string target);
  Status apply(const Setting& setting);
  [[nodiscard]] Error unknown(const Setting& setting) const;
  [[nodiscard]] Status known_table(const Setting& setting) const;
  void copy_same();

  std::shared_ptr<const Schema> schema_;
  std::map<std::string, std::string> chosen_;  ///< plug-in by kind
  std::set<std::string> same_;                 ///< kinds that follow another
  std::map<std::string, Key, std::less<>> keys_;
  Config config_;
};

/// Every key that can be written, chosen or not, full names; for look-up and for suggestions.
std::vector<std::string> all_keys(const Schema& schema);

/// What a setting's word means, if it is one of these.
std::optional<OptionValue> word_value(const Words& words, const Setting& setting);

/// The value of a setting as the spec's type, checked. Errors: kConfig without the place.
Result<OptionValue> convert(const OptionSpec& spec, const Setting& setting);

/// Checks that need more than one key or more than a range, and defaults that follow other keys.
/// Errors: kConfig, each with the place where the value was written.
Status finish_config(std::map<std::string, Config::Entry, std::less<>>& entries);

}  // namespace shoal::node
