#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/base/options.h"
#include "ops/base/result.h"

namespace shoal::ops {

/// The entry of a registry by name; `kind` ("layer", "optimizer") is for the sentence.
/// Errors: kConfig with the nearest name and all there are.
template <typename Entry>
Result<const Entry*> find_entry(const std::vector<Entry>& entries, std::string Entry::*name,
                                std::string_view kind, std::string_view wanted) {
  std::vector<std::string> names;
  std::string all;
  for (const auto& entry : entries) {
    if (entry.*name == wanted) {
      return &entry;
    }
    names.push_back(entry.*name);
    all += (all.empty() ? "" : ", ") + entry.*name;
  }
  const auto close = nearest(wanted, names);
  return config_error("there is no " + std::string(kind) + " \"" + std::string(wanted) + "\"" +
                      (close.empty() ? "" : "; did you mean \"" + close + "\"?") +
                      " (there are: " + all + ")");
}

/// Option values over the defaults of an entry. Errors: kConfig.
inline Result<Options> checked_options(
    const std::vector<OptionSpec>& specs,
    const std::vector<std::pair<std::string, OptionValue>>& values) {
  Options options = Options::defaults(specs);
  for (const auto& [name, value] : values) {
    SHOAL_ASSIGN(const OptionSpec* spec, find_entry(specs, &OptionSpec::name, "option", name));
    SHOAL_TRY(check_option(*spec, value));
    options.set(name, value);
  }
  return options;
}

}  // namespace shoal::ops
