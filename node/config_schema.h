#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/options.h"

namespace shoal::node {

/// Samples of one pass unless train.micro_batch says otherwise: bounds activations whatever the
/// batch, at a size that costs no speed. Fixed, since how a sum is cut decides its last bits.
inline constexpr std::int64_t kMicroBatch = 512;

/// A registry entry as configuration sees it: a name to choose and the keys that come with it.
struct PluginSpec {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
};

/// A list of plug-ins of which one is chosen: `table.selector = "name"`. Keys of the chosen one
/// stand in the same table behind `prefix` ("sync.period"). Where the prefix is empty, a sub-table
/// [table.name] may hold keys of any plug-in: they count when it is the chosen one, and are
/// checked and set aside when it is not.
struct PluginKind {
  std::string id;        ///< what code asks for: "model", "codec", ...
  std::string table;     ///< "compress"
  std::string selector;  ///< "codec"
  std::string prefix;    ///< "" or e.g. "answer_"
  std::string help;
  std::string default_name;
  /// When the name is `kSame`, this kind copies name and keys of the kind with this id.
  std::string same_as;
  Scope scope = Scope::kRun;  ///< of the selector
  /// Whether the plug-ins' keys all have the selector's scope, whatever they say themselves (a
  /// codec's keys are the sender's own, the same keys of an answer's codec are the run's).
  bool imposes_scope = false;
  std::vector<PluginSpec> plugins;
  /// A kind that only one plug-in of another kind has (the outer optimizer of `local`): there is
  /// no such key while another is chosen. Its keys may stand in that plug-in's sub-table too.
  std::string of_kind = {};
  std::string of_plugin = {};
};

inline constexpr std::string_view kSame = "same";

/// Words that may stand where a value of a key's type does, with what they mean; "true" and
/// "false" are booleans in TOML.
using Words = std::map<std::string, OptionValue, std::less<>>;

/// Keys that are always there. `name` is empty for the keys above the first table.
struct TableSpec {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  std::map<std::string, Words, std::less<>> words = {};  ///< by option
};

/// Every key that configuration may hold.
struct Schema {
  std::vector<TableSpec> tables;
  std::vector<PluginKind> kinds;

  [[nodiscard]] const PluginKind* kind(std::string_view id) const;
};

/// The registries that stand to the left of configuration, as lists.
struct Plugins {
  std::vector<PluginSpec> models;
  std::vector<PluginSpec> datasets;
  std::vector<PluginSpec> partitions;
  std::vector<PluginSpec> strategies;
  std::vector<PluginSpec> codecs;
  std::vector<PluginSpec> optimizers;
  std::vector<PluginSpec> outer_optimizers;
  std::vector<OptionSpec> schedule;  ///< keys of [train] that make the learning rate
};

/// shoal's keys over these plug-ins. Pure, so that tests can bring their own.
Schema make_schema(Plugins plugins);

/// shoal's keys over all registries of this program.
const Schema& full_schema();

}  // namespace shoal::node
