#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/optim/optimizer.h"
#include "tests/support/catch.h"

namespace shoal::ops::tests {

inline Options with(const OptimizerEntry& entry,
                    const std::vector<std::pair<std::string, OptionValue>>& values) {
  Options options = Options::defaults(entry.options);
  for (const auto& [name, value] : values) {
    options.set(name, value);
  }
  return options;
}

/// A space of small tensors of these shapes, packed side by side.
inline FlatSpace tensor_space(const std::vector<std::vector<std::int64_t>>& shapes) {
  ParamMap map;
  for (const auto& shape : shapes) {
    Param param;
    param.name = std::to_string(map.params().size());
    param.shape = shape;
    REQUIRE(map.add(param).ok());
  }
  map.seal();
  return {map, Ranges(Range{0, map.parameter_count()})};
}

}  // namespace shoal::ops::tests
