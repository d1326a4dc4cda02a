#pragma once

#include <vector>

#include "comm/wire/message.h"

namespace shoal::comm::tests {

/// A peer, hash or run of bytes told apart by a number.
PeerId sample_peer(std::uint8_t number);
Hash256 sample_hash(std::uint8_t number);
Bytes sample_bytes(std::size_t count);

/// A view of `count` members that decode() takes.
View sample_view(std::size_t count);

/// A message of each kind, in the order of the variant, every field of it set; bulk kinds have a
/// payload. decode() takes them all.
std::vector<Message> sample_messages();

}  // namespace shoal::comm::tests
