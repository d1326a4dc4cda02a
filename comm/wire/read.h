#pragma once

#include "comm/wire/message.h"
#include "comm/wire/shoal_generated.h"

/// The inside of decode(): from verified FlatBuffers to judged messages.
namespace shoal::comm::wire {

PeerId id(const fb::Key& key);

/// Whether the counter is within limits.h and there is a leader exactly when there is a counter.
bool good(const Ballot& ballot);

/// Reads and judges the body; false when a bound, an order or a number is wrong.
bool read_body(const fb::Frame& frame, Body& out);

}  // namespace shoal::comm::wire
