#include <algorithm>
#include <cmath>

#include "comm/limits.h"
#include "comm/wire/frame.h"
#include "comm/wire/message.h"
#include "comm/wire/read.h"
#include "comm/wire/shoal_generated.h"

namespace shoal::comm {
namespace {

Error refused(const char* reason, const std::string& sentence) {
  return bad_frame(std::string(reason) + ": " + sentence);
}

/// Judges the preamble. Errors: see drop_reason.
Status check_preamble(ByteSpan header) {
  if (header.size() > limits::kHeaderBytesMax) {
    return refused("oversized", "a header frame of " + std::to_string(header.size()) +
                                    " bytes, at most " + std::to_string(limits::kHeaderBytesMax) +
                                    " are allowed");
  }
  if (header.size() < kPreambleBytes) {
    return refused("truncated", "a header frame of " + std::to_string(header.size()) + " bytes");
  }
  if (!std::equal(kMagic.begin(), kMagic.end(), header.begin())) {
    return refused("bad-magic", "the header frame does not begin as one of shoal's");
  }
  std::uint16_t version = 0;
  std::memcpy(&version, header.data() + kMagic.size(), sizeof version);
  if (version != kProtocolVersion) {
    return refused("other-version", "the peer speaks protocol version " + std::to_string(version) +
                                        ", this program speaks " +
                                        std::to_string(kProtocolVersion));
  }
  if (header[6] != std::byte{0} || header[7] != std::byte{0}) {
    return refused("bad-header", "the preamble's last two bytes are not zero");
  }
  if (header.size() < kPreambleBytes + sizeof(flatbuffers::uoffset_t)) {
    return refused("bad-header", "nothing stands behind the preamble");
  }
  return {};
}

bool read_header(const fb::Frame& frame, Header& out) {
  out.run = frame.run();
  out.branch = frame.branch();
  out.view = frame.view();
  out.round = frame.round();
  out.session = frame.session();
  out.sequence = frame.sequence();
  out.ballot.counter = frame.ballot_counter();
  if (frame.ballot_leader() != nullptr) {
    out.ballot.leader = wire::id(*frame.ballot_leader());
  }
  return out.round <= limits::kRoundMax && wire::good(out.ballot);
}

/// Whether a message of this kind has a payload: the word of message.h.
bool is_bulk(const Body& body) {
  return std::holds_alternative<Contribution>(body) || std::holds_alternative<Answer>(body) ||
         std::holds_alternative<StateReply>(body);
}

Status check_payload(const Frame& frame) {
  const std::size_t chunk = frame.message.payload.size();
  if (chunk > limits::kChunkBytesMax || frame.payload_bytes > limits::kPayloadBytesMax) {
    return refused("oversized", "a chunk of " + std::to_string(chunk) + " bytes of a payload of " +
                                    std::to_string(frame.payload_bytes));
  }
  if (frame.payload_bytes > 0 && !is_bulk(frame.message.body)) {
    return refused("bad-payload", "a payload behind a message that has none");
  }
  const auto* contribution = std::get_if<Contribution>(&frame.message.body);
  if (frame.payload_bytes > 0 && contribution != nullptr && contribution->skip) {
    return refused("bad-payload", "a payload behind a contribution that is none");
  }
  const auto* state = std::get_if<StateReply>(&frame.message.body);
  if (state != nullptr && state->codec_state_bytes > frame.payload_bytes) {
    return refused("bad-payload", "a codec's state longer than the payload that it is in");
  }
  // An empty chunk of a longer payload would bring its message no further.
  if (frame.chunk_offset > frame.payload_bytes ||
      chunk > frame.payload_bytes - frame.chunk_offset ||
      (chunk == 0) != (frame.payload_bytes == 0)) {
    return refused("bad-payload", "a chunk of " + std::to_string(chunk) + " bytes at " +
                                      std::to_string(frame.chunk_offset) + " of a payload of " +
                                      std::to_string(frame.payload_bytes));
  }
  return {};
}

/// FlatBuffers reads numbers in place, so the buffer has to lie at a multiple of 8.
class Aligned {
 public:
  explicit Aligned(ByteSpan bytes) : bytes_(bytes) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0) {
      copy_.resize((bytes.size() + 7) / 8);
      std::memcpy(copy_.data(), bytes.data(), bytes.size());
      bytes_ = std::as_bytes(std::span(copy_)).first(bytes.size());
    }
  }
  [[nodiscard]] const std::uint8_t* data() const {
    return reinterpret_cast<const std::uint8_t*>(bytes_.data());
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  ByteSpan bytes_;
  std::vector<std::uint64_t> copy_;
};

constexpr flatbuffers::uoffset_t kDepthMax = 8;
constexpr flatbuffers::uoffset_t kTablesMax = 2 * limits::kPeersMax;

}  // namespace

Result<Frame> decode(ByteSpan header, Bytes chunk) {
  SHOAL_TRY(check_preamble(header));
  const Aligned bytes(header.subspan(kPreambleBytes));
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kDepthMax, kTablesMax);
  if (!fb::VerifyFrameBuffer(verifier)) {
    return refused("bad-header", "the header frame is not a whole FlatBuffer of our schema");
  }
  const fb::Frame& in = *fb::GetFrame(bytes.data());
  Frame out;
  if (!read_header(in, out.message.header)) {
    return refused("bad-header", "round or ballot out of range");
  }
  if (!wire::read_body(in, out.message.body)) {
    return refused("bad-body", std::string("the body of a message of kind ") +
                                   fb::EnumNameBody(in.body_type()) + " is out of bounds");
  }
  out.message.payload = std::move(chunk);
  out.payload_bytes = in.payload_bytes();
  out.chunk_offset = in.chunk_offset();
  SHOAL_TRY(check_payload(out));
  return out;
}

}  // namespace shoal::comm
