#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/config.h"

namespace shoal::node {

/// One key as somebody wrote it, before anything is known about it.
struct Setting {
  enum class Form : std::uint8_t {
    kTyped,  ///< `value` as TOML has it: durations are still strings
    kText,   ///< `value` is text of any type, from a command line or an environment
    kOdd,    ///< `value` says in words what it is: something that no key can hold
    kTable   ///< a table of this name is there
  };
  std::string key;  ///< "train.batch"
  Form form = Form::kTyped;
  OptionValue value;
  Origin origin;
};

inline constexpr std::size_t kTomlBytesMax = 1 << 20;

/// A TOML text as a list of settings, in order of tables. The one file that knows toml++.
/// Errors: kConfig with file and line for what is no TOML, nested deeper
/// than any configuration, or larger than kTomlBytesMax.
Result<std::vector<Setting>> read_toml(std::string_view text, const std::string& name);

/// A string as TOML writes it, quotes and escapes included.
std::string toml_string(std::string_view text);

}  // namespace shoal::node
