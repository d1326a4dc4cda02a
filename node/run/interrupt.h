#pragma once

namespace shoal::node {

/// Takes SIGINT and SIGTERM as a wish to leave: the first is remembered, the second ends the
/// process at once, as if nothing had been caught.
void catch_interrupts();
/// Whether the wish was uttered.
[[nodiscard]] bool interrupted();

}  // namespace shoal::node
