#pragma once

#include <string>

namespace shoal::node {

/// This very program, whatever it was called as; by its path, which is what `ps` shows.
std::string own_binary();

}  // namespace shoal::node
