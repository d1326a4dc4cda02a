#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/config_schema.h"
#include "ops/base/hash.h"
#include "ops/base/options.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Where a value comes from, in rising order of precedence.
struct Origin {
  enum class Kind : std::uint8_t { kDefault, kFile, kEnvironment, kFlag, kRun };
  Kind kind = Kind::kDefault;
  std::string where;  ///< "configs/quickstart.toml:12", "SHOAL_TRAIN_BATCH", "--set", "the run"

  /// For people: `where`, or "default".
  [[nodiscard]] std::string text() const { return where.empty() ? "default" : where; }
};

/// What `load_config` reads.
struct ConfigSources {
  std::optional<std::string> file;  ///< path of a TOML file
  /// Variables by name; only SHOAL_* are looked at. The key a.b_c is SHOAL_A_B_C.
  std::map<std::string, std::string> environment;
  std::vector<std::string> settings;  ///< "a.b=value" in order, a later one wins
};

/// The effective configuration: a value with its origin for every key that applies. Strict: what
/// is in it was checked against the schema. A value type, cheap enough to copy.
class Config {
 public:
  struct Entry {
    OptionValue value;
    Origin origin;
    Scope scope = Scope::kPeer;
    std::string help;
  };

  /// Full names of keys, "train.batch"; "seed" stands above the tables.
  /// Requires: the key is in the schema with this type, and, for a plug-in's, that plug-in is the
  /// chosen one (checked).
  [[nodiscard]] bool get_bool(std::string_view key) const;
  [[nodiscard]] std::int64_t get_int(std::string_view key) const;
  [[nodiscard]] double get_float(std::string_view key) const;
  [[nodiscard]] const std::string& get_string(std::string_view key) const;
  [[nodiscard]] Duration get_duration(std::string_view key) const;
  [[nodiscard]] const std::vector<std::string>& get_strings(std::string_view key) const;
  /// A rate key ("20Mbit/s") in bytes/s; 0 means no limit. Requires: checked at load.
  [[nodiscard]] double get_rate(std::string_view key) const;
  /// A size key ("512MiB") in bytes; 0 means no limit.
  [[nodiscard]] std::uint64_t get_bytes(std::string_view key) const;

  /// The chosen plug-in of a kind: "model", "data", "partition", "sync", "codec", "answer",
  /// "optimizer". Requires: the schema has the kind (checked).
  [[nodiscard]] const std::string& chosen(std::string_view kind_id) const;
  /// Its own options, names relative to it, ready for the registry entry's `make`.
  [[nodiscard]] Options plugin_options(std::string_view kind_id) const;
  /// The keys of one table, names relative to it (for ops::make_schedule and the like).
  [[nodiscard]] Options table_options(std::string_view table) const;

  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const {
    return entries_;
  }
  [[nodiscard]] const Entry* find(std::string_view key) const;

  /// Everything as TOML that loads to the same values, origins as comments.
  [[nodiscard]] std::string effective() const;
  /// The same as one JSON object: {key: {value, origin, scope}}.
  [[nodiscard]] std::string effective_json() const;

  /// The effective run keys, sorted, one "key=value" a line.
  [[nodiscard]] std::string run_keys() const;
  /// Hash over run_keys(): what two peers compare.
  [[nodiscard]] Hash256 run_keys_hash() const;

  /// For a joiner: takes all run keys from the run, whatever was said here; peer keys stay. Returns
  /// a sentence for each value that was said here and is set aside.
  /// Errors: kNetwork for text that no peer of this version would send: an unknown key, a peer key,
  /// a missing key, a value out of bounds.
  [[nodiscard]] Result<std::vector<std::string>> apply_run_keys(std::string_view text);

 private:
  friend class ConfigBuilder;
  template <typename T>
  const T& get(std::string_view key) const;

  std::shared_ptr<const Schema> schema_;
  std::map<std::string, Entry, std::less<>> entries_;
};

/// Reads all sources: flag > environment > file > default.
/// Errors: kConfig: an unknown key (with file:line and the nearest key), a wrong type, an
/// impossible value, a file that can't be read or is no TOML.
Result<Config> load_config(const Schema& schema, const ConfigSources& sources);

/// The same from the text of a file; `name` stands for the file in messages.
Result<Config> parse_config(const Schema& schema, std::string_view text, const std::string& name,
                            const ConfigSources& sources = {});

/// What differs between two texts of run_keys(), one "key: ours here, theirs there" a line, for
/// refusing a peer in words.
std::string run_keys_difference(std::string_view ours, std::string_view theirs);

/// The variables of this process that begin with SHOAL_.
std::map<std::string, std::string> shoal_environment();

}  // namespace shoal::node
