#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace shoal::tests::tidy {

inline constexpr std::size_t kFileLinesMax = 600;
inline constexpr std::size_t kFunctionLinesMax = 70;
inline constexpr std::size_t kColumnsMax = 100;

struct Finding {
  std::string path;
  std::size_t line = 0;
  std::string what;
};

/// A file, or a folder ending in '/', that may use a group of banned names, and why. Groups: "end"
/// (of the process), "chance" (unseeded), "time of day", "thread", "lock".
struct Allowed {
  std::string path;
  std::string group;
  std::string reason;
};

/// Includes are from the root and name only folders to the left; ops/base sees only itself.
std::vector<Finding> upward_includes(const Source& source);
/// Files, functions and lines have a largest size; a header has `#pragma once`.
std::vector<Finding> sizes(const Source& source);
/// Names that are never used, save where `allowed` says so.
std::vector<Finding> banned_names(const Source& source, const std::vector<Allowed>& allowed);
/// Work left for later is an issue, not a mark in the source.
std::vector<Finding> marks(const Source& source);
/// Every test case asserts, itself or through a function of the tests that does.
std::vector<Finding> tests_without_assertion(const std::vector<Source>& tests);

}  // namespace shoal::tests::tidy
