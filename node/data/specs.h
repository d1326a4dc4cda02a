#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ops/base/options.h"

/// Options of data sets, in one line each. What a file is called is a peer's own affair; what is
/// made of it is the run's.
namespace shoal::node {

inline OptionSpec path_option(std::string name, std::string value, std::string help) {
  OptionSpec spec;
  spec.name = std::move(name);
  spec.default_value = std::move(value);
  spec.help = std::move(help);
  spec.scope = Scope::kPeer;
  return spec;
}

inline OptionSpec text_option(std::string name, std::string value, std::string help) {
  OptionSpec spec = path_option(std::move(name), std::move(value), std::move(help));
  spec.scope = Scope::kRun;
  return spec;
}

/// The first choice is the default.
inline OptionSpec choice_option(std::string name, std::vector<std::string> choices,
                                std::string help) {
  OptionSpec spec = text_option(std::move(name), choices.front(), std::move(help));
  spec.choices = std::move(choices);
  return spec;
}

inline OptionSpec int_option(std::string name, std::int64_t value, double minimum, double maximum,
                             std::string help) {
  return {std::move(name), OptionType::kInt, value, std::move(help),
          minimum,         maximum,          {},    Scope::kRun};
}

inline OptionSpec float_option(std::string name, double value, double minimum, double maximum,
                               std::string help) {
  return {std::move(name), OptionType::kFloat, value, std::move(help), minimum, maximum, {},
          Scope::kRun};
}

}  // namespace shoal::node
