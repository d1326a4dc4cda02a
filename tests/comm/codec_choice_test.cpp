#include "comm/codec_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::comm;

namespace {

constexpr double kTiny = 1e-30;  // a round so short that every saving counts

CodecOffer offer(const std::string& name, double compute_s, double bytes) {
  auto codec = compress::make_codec(name, {});
  REQUIRE(codec.ok());
  return {name, std::move(*codec), {compute_s / 2, compute_s / 2, bytes}};
}

/// As pick() should find it, by trying everything.
double best_of_all(const CodecChoice& choice, const std::vector<Outgoing>& out) {
  const std::size_t offers = choice.offers().size();
  std::size_t ways = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    ways *= offers;
  }
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t way = 0; way < ways; ++way) {
    double compute = 0;
    double transfer = 0;
    std::size_t rest = way;
    for (const Outgoing& o : out) {
      const auto& cost = choice.offers()[rest % offers].cost;
      rest /= offers;
      const auto n = static_cast<double>(o.elements);
      compute += n * (cost.encode_s + cost.decode_s);
      transfer = std::max(transfer, o.rate > 0 ? n * cost.bytes / o.rate : 0.0);
    }
    best = std::min(best, compute + transfer);
  }
  return best;
}

}  // namespace

TEST_CASE("codec choice: what is picked is the best of all ways", "[codec_choice]") {
  Rng rng(shoal::tests::test_seed(21), 0);
  for (int trial = 0; trial < 500; ++trial) {
    const CodecChoice choice(std::vector<CodecOffer>{offer("fp32", 1e-10, 4),
                                                     offer("bf16", rng.uniform() * 4e-9, 2),
                                                     offer("int8", rng.uniform() * 8e-9, 1.03)});
    std::vector<Outgoing> out(1 + rng.below(5));
    for (Outgoing& o : out) {
      o.elements = kGranule * (1 + rng.below(200));
      o.rate = rng.below(5) == 0 ? 0 : std::pow(10.0, 5 + 5 * rng.uniform());
    }
    const Picked picked = choice.pick(out, {}, kTiny);
    const double best = best_of_all(choice, out);
    CAPTURE(trial, out.size());
    REQUIRE(picked.offers.size() == out.size());
    // The sums are the same up to the order of at most five terms.
    CHECK(std::abs(picked.seconds - best) <= 1e-14 + 1e-12 * best);
  }
}

TEST_CASE("codec choice: no known bound picks the first, a slow link the smallest",
          "[codec_choice]") {
  const CodecChoice choice(
      std::vector<CodecOffer>{offer("fp32", 1e-9, 4), offer("int8", 4e-9, 1.03)});
  const std::vector<Outgoing> unknown(3, Outgoing{1 << 20, 0});
  CHECK(choice.pick(unknown, {}, kTiny).offers == std::vector<std::size_t>(3, 0));
  const std::vector<Outgoing> slow(3, Outgoing{1 << 20, 20e6 / 8});
  const Picked picked = choice.pick(slow, {}, kTiny);
  CHECK(picked.offers == std::vector<std::size_t>(3, 1));
  // One slow link among fast ones is all there is to shorten.
  std::vector<Outgoing> mixed(3, Outgoing{1 << 20, 1.25e9});
  mixed[1].rate = 1e6;
  CHECK(choice.pick(mixed, {}, kTiny).offers == std::vector<std::size_t>{0, 1, 0});
  CHECK(choice.first_s(slow) > 3 * picked.seconds);
}

TEST_CASE("codec choice: a pick stays until another is clearly better", "[codec_choice]") {
  const CodecChoice choice(
      std::vector<CodecOffer>{offer("fp32", 0, 40), offer("bf16", 0, 4), offer("int8", 3e-9, 1)});
  // bf16 and int8 are equal at 1e9 bytes/s: 4 ns of transfer, or 1 ns and 3 ns of computing.
  const auto at = [](double rate) { return std::vector<Outgoing>{{kGranule, rate}}; };
  const Picked bf16{{1}, 0};
  const Picked int8{{2}, 0};
  CHECK(choice.pick(at(1.01e9), int8, kTiny).offers == int8.offers);
  CHECK(choice.pick(at(1.01e9), bf16, kTiny).offers == bf16.offers);
  CHECK(choice.pick(at(0.99e9), bf16, kTiny).offers == bf16.offers);
  CHECK(choice.pick(at(1.2e9), int8, kTiny).offers == bf16.offers);
  CHECK(choice.pick(at(0.8e9), bf16, kTiny).offers == int8.offers);
  // Between 1 and 2 % of a round: not taken, but kept.
  const double saved = choice.first_s(at(1e9)) - choice.pick(at(1e9), {}, kTiny).seconds;
  CHECK(choice.pick(at(1e9), {}, saved / 0.015).offers == std::vector<std::size_t>{0});
  CHECK(choice.pick(at(1e9), bf16, saved / 0.015).offers == bf16.offers);
}

TEST_CASE("codec choice: one codec is no choice", "[codec_choice]") {
  auto codec = compress::make_codec("int8", {});
  REQUIRE(codec.ok());
  const CodecChoice choice(std::shared_ptr<const compress::Codec>(std::move(*codec)));
  CHECK(choice.fixed());
  CHECK_FALSE(choice.lossless());
  CHECK(choice.offers().front().name == "int8");
  const std::vector<Outgoing> out(2, Outgoing{kGranule, 1e3});
  CHECK(choice.pick(out, {}, kTiny).offers == std::vector<std::size_t>(2, 0));
}

TEST_CASE("codec choice: what saves little of a round is not worth its loss", "[codec_choice]") {
  const CodecChoice choice(
      std::vector<CodecOffer>{offer("fp32", 1e-10, 4), offer("int8", 4e-10, 1)});
  const std::vector<Outgoing> out(3, Outgoing{1 << 20, 1e9});
  const double saved = choice.first_s(out) - choice.pick(out, {}, kTiny).seconds;
  REQUIRE(saved > 0);
  CHECK(choice.pick(out, {}, 51 * saved).offers == std::vector<std::size_t>(3, 0));
  CHECK(choice.pick(out, {}, 49 * saved).offers == std::vector<std::size_t>(3, 1));
  CHECK(choice.pick(out, {}, 0).offers == std::vector<std::size_t>(3, 0));
}
