#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "comm/wire/message.h"
#include "compress/codec.h"

namespace shoal::comm {

struct StoredAnswer {
  Answer answer;
  Bytes encoded;
};

/// Replicated state of the answers' codec; null when it has none. Never changed: each round has its
/// own, which what is encoded, decoded or kept of the round holds on to.
using CodecState = std::shared_ptr<const compress::State>;

/// The state after a round that decided these answers. One without contributors says nothing, and
/// neither does one by another codec than `codec`, the run's.
/// Errors: kBadFrame.
Result<CodecState> state_after(const CodecState& state, std::uint8_t codec,
                               const compress::CodecContext& context,
                               std::span<const Hash256> answers,
                               const std::map<Hash256, StoredAnswer>& stored);

/// As `save` wrote it, for the same model and codec. Errors: kData, also for bytes behind it.
Result<CodecState> read_state(const CodecState& like, ByteSpan bytes);
Bytes saved_state(const CodecState& state);

}  // namespace shoal::comm
