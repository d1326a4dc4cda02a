#pragma once

#include <string>
#include <string_view>

namespace shoal::tests {

/// Path of a file or folder of the source tree from its place in it ("tests/golden/int8.txt").
std::string source_path(std::string_view relative);

}  // namespace shoal::tests
