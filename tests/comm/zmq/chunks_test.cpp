#include "comm/zmq/chunks.h"

#include "comm/limits.h"
#include "tests/comm/zmq/peers.h"

namespace shoal::comm {
namespace {

using tests::bulk;
using tests::same;

Frame frame(std::uint64_t sequence, std::size_t count, std::uint64_t offset, std::uint64_t total) {
  Frame made;
  made.message = bulk(sequence, count);
  made.payload_bytes = total;
  made.chunk_offset = offset;
  return made;
}

TEST_CASE("chunks: a queue cuts in order and counts what is left") {
  SendQueue queue;
  const Message message = bulk(1, 1000);
  queue.push(message);
  queue.push(bulk(2, 0));
  CHECK(queue.bytes() == 1000);
  std::size_t offset = 0;
  for (const std::size_t expected : {400, 400, 200}) {
    const auto piece = queue.peek(400);
    CHECK(same(piece.chunk.span(), message.payload.slice(offset, expected).span()));
    CHECK(piece.chunk.data() == message.payload.data() + offset);  // a view, no copy
    CHECK(piece.last == (expected == 200));
    queue.take(piece);
    offset += expected;
    CHECK(queue.bytes() == 1000 - offset);
  }
  const auto empty = queue.peek(400);
  CHECK(empty.last);
  CHECK(empty.chunk.empty());
  queue.take(empty);
  CHECK(queue.empty());
}

TEST_CASE("chunks: what was cut is put together") {
  for (const std::size_t total : {0, 1, 99, 100, 101, 1000, 3 << 20}) {
    for (const std::size_t cut : {100UL, limits::kChunkBytesMax}) {
      if (total / cut > 10'000) {
        continue;
      }
      Reassembly arriving(limits::kPayloadBytesMax);
      const Message message = bulk(7, total);
      std::size_t offset = 0;
      for (;;) {
        const std::size_t count = std::min(cut, total - offset);
        Frame part = frame(7, 0, offset, total);
        part.message.payload = message.payload.slice(offset, count);
        offset += count;
        auto whole = arriving.add(std::move(part));
        REQUIRE(whole.ok());
        REQUIRE(whole->has_value() == (offset == total));
        if (offset == total) {
          CHECK(same((*whole)->payload.span(), message.payload.span()));
          break;
        }
      }
    }
  }
}

TEST_CASE(
    "chunks: gaps, repeats, lies about the size and strangers are refused, then all is well") {
  struct Case {
    const char* what;
    Frame second;
  };
  const Case cases[] = {
      {"gap", frame(1, 100, 200, 1000)},          {"repeat", frame(1, 100, 0, 1000)},
      {"past the end", frame(1, 950, 100, 1000)}, {"nothing", frame(1, 0, 100, 1000)},
      {"shrunk", frame(1, 10, 100, 50)},          {"another message", frame(2, 100, 100, 1000)},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    Reassembly arriving(1000);
    auto first = arriving.add(frame(1, 100, 0, 1000));
    REQUIRE(first.ok());
    auto refused = arriving.add(c.second);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::kBadFrame);
    const auto next = arriving.add(frame(3, 100, 0, 100));
    REQUIRE(next.ok());
    CHECK(next->has_value());
  }
  Reassembly arriving(1000);
  CHECK_FALSE(arriving.add(frame(1, 100, 0, 1001)).ok());
}

}  // namespace
}  // namespace shoal::comm
