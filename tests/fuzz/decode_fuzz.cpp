// Hostile bytes to decode(). Input: byte 0 says how many of the last bytes are the chunk, the rest
// is the header frame.
#include <algorithm>
#include <cstdint>

#include "comm/limits.h"
#include "comm/wire/message.h"
#include "ops/base/check.h"

namespace {

using namespace shoal;
using namespace shoal::comm;

/// Whatever was taken is something that an honest peer could have sent: it can be sent again and
/// is understood alike. (Bodies are compared as bytes, since a loss may be NaN.)
void check_taken(const Frame& frame) {
  const Bytes first = encode_header(frame.message, frame.payload_bytes, frame.chunk_offset);
  SHOAL_CHECK(first.size() <= limits::kHeaderBytesMax, "what was taken can be sent");
  const Result<Frame> again = decode(first.span(), frame.message.payload);
  SHOAL_CHECK(again.ok(), "what was taken once is taken twice");
  const Bytes second = encode_header(again->message, again->payload_bytes, again->chunk_offset);
  SHOAL_CHECK(std::equal(first.span().begin(), first.span().end(), second.span().begin(),
                         second.span().end()),
              "what was taken is understood alike");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) {
    return 0;
  }
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const std::size_t chunk = std::min<std::size_t>(data[0], bytes.size());
  const Result<Frame> frame =
      decode(bytes.first(bytes.size() - chunk), Bytes::copy_of(bytes.last(chunk)));
  if (frame.ok()) {
    check_taken(*frame);
  } else {
    SHOAL_CHECK(frame.error().code == Code::kBadFrame && !drop_reason(frame.error()).empty(),
                "a refused frame has a word to count it by");
  }
  return 0;
}
