#include "comm/round/codec_state.h"

namespace shoal::comm {

Result<CodecState> state_after(const CodecState& state, std::uint8_t codec,
                               const compress::CodecContext& context,
                               std::span<const Hash256> answers,
                               const std::map<Hash256, StoredAnswer>& stored) {
  if (state == nullptr) {
    return CodecState();
  }
  std::unique_ptr<compress::State> next = state->clone();
  for (const Hash256& hash : answers) {
    const auto it = stored.find(hash);
    if (it == stored.end()) {
      continue;  // an empty part
    }
    const Answer& answer = it->second.answer;
    if (answer.codec == codec && !answer.contributors.empty()) {
      SHOAL_TRY(next->advance(answer.granules, context, it->second.encoded.span()));
    }
  }
  return CodecState(std::move(next));
}

Result<CodecState> read_state(const CodecState& like, ByteSpan bytes) {
  if (like == nullptr) {
    return bytes.empty() ? Result<CodecState>(CodecState())
                         : data_error("a codec's state, where the run's codec has none");
  }
  std::unique_ptr<compress::State> state = like->clone();
  ByteReader in(bytes);
  SHOAL_TRY(state->load(in));
  if (in.left() > 0) {
    return data_error("bytes are left over after the codec's state");
  }
  return CodecState(std::move(state));
}

Bytes saved_state(const CodecState& state) {
  ByteWriter out;
  if (state != nullptr) {
    state->save(out);
  }
  return out.take_bytes();
}

}  // namespace shoal::comm
