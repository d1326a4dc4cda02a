// Any bytes as a data ledger (a checkpoint, a snapshot from a peer): refused, or one that is
// written back as it was and goes on to see every sample once.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "node/data/ledger.h"
#include "ops/base/check.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader in(std::as_bytes(std::span(data, size)));
  auto ledger = node::Ledger::load(in);
  if (!ledger.ok()) {
    return 0;
  }
  ByteWriter out;
  ledger->save(out);
  SHOAL_CHECK(out.size() == size - in.left(), "a ledger is written as it was read");
  SHOAL_CHECK(std::equal(out.span().begin(), out.span().end(),
                         std::as_bytes(std::span(data, size)).begin()),
              "a ledger is written as it was read");
  ledger->return_all();
  const comm::MemberId self;
  for (std::uint64_t i = 0; i < 100 && !ledger->complete(); ++i) {
    const std::uint64_t round = ledger->round() + 1;
    const std::uint64_t before = ledger->seen_total();
    if (round == 0 || !ledger->assign(round, {{self, 1}}, 1U << 30U).ok()) {
      return 0;  // the last round number there is
    }
    SHOAL_CHECK(ledger->settle({round, {self}, {true}, {self}}).ok(), "a round is settled");
    SHOAL_CHECK(ledger->seen_total() > before, "an open ledger has something to lease");
  }
  return 0;
}
