#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ops/base/clock.h"
#include "ops/base/result.h"

namespace shoal {

/// One configuration value. Durations are written "2s", "150ms", "5m", "1h"; rates "20Mbit/s";
/// sizes "64MiB"; lists hold integers (layer widths) or strings.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, Duration,
                                 std::vector<std::int64_t>, std::vector<std::string>>;

enum class OptionType { kBool, kInt, kFloat, kString, kDuration, kIntList, kStringList };

/// Who decides: a *run* key is hashed, the same for all, taken from the run by a joiner; a *peer*
/// key is local and never accepted from the wire.
enum class Scope { kRun, kPeer };

/// What one key may hold. `minimum` and `maximum` bound numbers (and each element of a list) and
/// durations in seconds; `choices` bound strings.
struct OptionSpec {
  std::string name;  ///< relative to the plug-in's table, e.g. "momentum"
  OptionType type = OptionType::kString;
  OptionValue default_value;
  std::string help;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;
  Scope scope = Scope::kRun;
};

/// Values of one table after checking against its specs, defaults filled in.
class Options {
 public:
  void set(std::string name, OptionValue value) {
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  /// Requires: the key is in the table's specs with this type (checked: a plug-in asking for a key
  /// that it never declared is our bug).
  [[nodiscard]] bool get_bool(std::string_view name) const;
  [[nodiscard]] std::int64_t get_int(std::string_view name) const;
  [[nodiscard]] double get_float(std::string_view name) const;
  [[nodiscard]] const std::string& get_string(std::string_view name) const;
  [[nodiscard]] Duration get_duration(std::string_view name) const;
  [[nodiscard]] const std::vector<std::int64_t>& get_ints(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& get_strings(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, OptionValue, std::less<>>& values() const {
    return values_;
  }

  /// All defaults of the specs.
  static Options defaults(const std::vector<OptionSpec>& specs);

 private:
  template <typename T>
  const T& get(std::string_view name) const;
  std::map<std::string, OptionValue, std::less<>> values_;
};

/// Whether `value` fits the spec.
/// Errors: kConfig with a sentence that names the key, the value and what is allowed.
Status check_option(const OptionSpec& spec, const OptionValue& value);

/// Reads a value from text (a command line, an environment variable) as the spec's type.
/// Errors: kConfig.
Result<OptionValue> parse_option(const OptionSpec& spec, std::string_view text);

/// The canonical text of a value, as hashed in the run's keys and shown by `config show`; parsing
/// it gives the value back, to the bit for floats.
std::string option_text(const OptionValue& value);

/// Parses "250ms", "2s", "5m", "1h" (also "1.5s"). Errors: kConfig.
Result<Duration> parse_duration(std::string_view text);

/// The candidate nearest to `word` by edit distance, or empty when none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace shoal
