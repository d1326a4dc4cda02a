#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "node/config.h"

namespace shoal::node {

/// One thing that could stop this machine from taking part.
struct Finding {
  enum class Grade : std::uint8_t {
    kGood,
    kNote,    ///< works, but worse than it could
    kProblem  ///< would stop a peer
  };
  std::string what;  ///< "data set", "port", ...
  Grade grade = Grade::kGood;
  std::string sentence;
  std::string remedy;           ///< empty when there is nothing to do
  Code code = Code::kInternal;  ///< of a problem
};

/// Looks at everything, in order; changes nothing. `home` is where the key lies or would lie.
std::vector<Finding> examine(const Config& config, const Result<std::filesystem::path>& home);

/// 0, or the largest exit code of the problems.
int exit_code_of(const std::vector<Finding>& findings);

}  // namespace shoal::node
