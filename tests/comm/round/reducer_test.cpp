#include "comm/round/reducer.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::comm {
namespace {

std::shared_ptr<const compress::Codec> fp32() {
  for (const auto& entry : compress::registry()) {
    if (entry.name == "fp32") {
      return entry.make(Options::defaults(entry.options));
    }
  }
  return nullptr;
}

ParamMap map_of(std::int64_t elements) {
  Param p;
  p.name = "weights";
  p.shape = {elements};
  ParamMap map;
  REQUIRE(map.add(p).ok());
  map.seal();
  return map;
}

/// A contribution of weight 2 whose mean has the given norm: all elements alike.
PartInput input_of(const ParamMap& map, std::uint16_t member, double norm, double weight = 2) {
  const auto elements = static_cast<std::size_t>(map.flat_size());
  const double element = norm / std::sqrt(static_cast<double>(elements));
  const std::vector<float> sum(elements, static_cast<float>(weight * element));
  const Range all{0, map.granule_count()};
  ByteWriter w;
  REQUIRE(compress::encode_granules(*fp32(), map, all, sum, {}, w).ok());
  return {member, fp32()->properties().wire_id, {{all, weight}}, w.take_bytes()};
}

/// The same with another last element, as broken memory of the sender would have it.
PartInput broken(PartInput input, float last) {
  std::vector<std::byte> bytes(input.encoded.span().begin(), input.encoded.span().end());
  std::memcpy(bytes.data() + bytes.size() - sizeof last, &last, sizeof last);
  input.encoded = Bytes::copy_of(bytes);
  return input;
}

ReduceTask task_of(const ParamMap& map, std::vector<PartInput> inputs) {
  ReduceTask task;
  task.map = &map;
  task.granules = {0, map.granule_count()};
  task.inputs = std::move(inputs);
  task.answer_codec = fp32();
  return task;
}

/// An owner with its reference: refused members of a round, empty when it counts.
struct Owner {
  explicit Owner(const ParamMap& of) : map(of) {}

  std::vector<std::uint16_t> round(std::vector<PartInput> inputs) {
    ReduceTask task = task_of(map, std::move(inputs));
    task.norm_bound = reference.bound(task.granules, options);
    const Reduced reduced = reduce_part(task);
    std::vector<std::uint16_t> members;
    for (const auto& r : reduced.refused) {
      CHECK(r.reason == "absurd-norm");
      members.push_back(r.member);
    }
    if (members.empty()) {
      reference.accept(task.granules, reduced.norms, options);
    }
    return members;
  }

  const ParamMap& map;
  GuardOptions options;
  NormReference reference;
};

using Members = std::vector<std::uint16_t>;

TEST_CASE("reducer: the norm of a contribution is that of its mean", "[guard]") {
  const ParamMap map = map_of(2 * kGranule);
  auto split = input_of(map, 1, 3, 2);
  split.weights = {{{0, 1}, 2}, {{1, 2}, 4}};  // the second granule's mean is half as large
  const Reduced reduced = reduce_part(task_of(map, {input_of(map, 0, 3), split}));
  REQUIRE(reduced.refused.empty());
  REQUIRE(reduced.norms.size() == 2);
  // Elements are rounded to fp32 once: relative 2^-24; sums in double.
  CHECK(std::abs(reduced.norms[0] - 3) < 3e-7);
  CHECK(std::abs(reduced.norms[1] - 3 * std::sqrt(0.5 + 0.125)) < 3e-7);
}

TEST_CASE("reducer: NaN, Inf, weight zero and bytes of another codec are refused", "[guard]") {
  const ParamMap map = map_of(kGranule);
  auto unknown = input_of(map, 3, 1);
  unknown.codec = 255;
  auto cut = input_of(map, 4, 1);
  cut.encoded = Bytes::copy_of(cut.encoded.span().first(7));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Reduced reduced =
      reduce_part(task_of(map, {broken(input_of(map, 0, 1), nan), broken(input_of(map, 1, 1), inf),
                                input_of(map, 2, 1, 0), unknown, cut, input_of(map, 5, 1)}));
  std::vector<std::string> reasons;
  for (const auto& r : reduced.refused) {
    reasons.push_back(std::to_string(r.member) + " " + r.reason);
  }
  // The codec refuses NaN and Inf before the guard sees them.
  CHECK(reasons == std::vector<std::string>{"0 bad-encoding", "1 bad-encoding", "2 zero-weight",
                                            "3 bad-encoding", "4 bad-encoding"});
  CHECK(reduced.encoded.size() == 0);
}

TEST_CASE("guard: honest norms that shrink and flare up are never refused", "[guard]") {
  const std::uint64_t seed = shoal::tests::test_seed(1);
  CAPTURE(seed);
  Rng rng(seed, 0);
  const ParamMap map = map_of(kGranule);
  Owner owner(map);
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    const double scale = std::pow(1e-4, static_cast<double>(round) / kRounds);
    std::vector<PartInput> inputs;
    for (std::uint16_t member = 0; member < 3; ++member) {
      const bool flare = rng.uniform() < 0.01;
      inputs.push_back(input_of(map, member, scale * (0.5 + rng.uniform()) * (flare ? 1000 : 1)));
    }
    CAPTURE(round);
    REQUIRE(owner.round(std::move(inputs)) == Members{});
  }
  // All since have faded: what holds is the recent maximum.
  CHECK(owner.round({input_of(map, 0, 1e30), input_of(map, 1, 1e-4)}) == Members{0});
  CHECK(owner.round({input_of(map, 0, 1e-4), input_of(map, 1, 1000 * 1.5e-4 * 1e6)}) == Members{1});
}

TEST_CASE("guard: most norms zero, as near convergence, refuse nobody", "[guard]") {
  const ParamMap map = map_of(kGranule);
  Owner owner(map);
  for (int round = 0; round < 300; ++round) {
    const double norm = round % 50 == 0 ? 1 : 0;
    REQUIRE(owner.round({input_of(map, 0, 0), input_of(map, 1, norm), input_of(map, 2, 0)}) ==
            Members{});
  }
  CHECK(owner.round({input_of(map, 0, 0), input_of(map, 1, 1e6)}) == Members{1});
}

TEST_CASE("guard: before the reference is known only absurd sizes are refused", "[guard]") {
  const ParamMap map = map_of(kGranule);
  Owner owner(map);
  CHECK(owner.round({input_of(map, 0, 1), input_of(map, 1, 1e30)}) == Members{1});
  CHECK(owner.round({input_of(map, 0, 1e-6), input_of(map, 1, 1)}) == Members{});
  for (std::uint64_t round = 1; round < owner.options.rounds_min; ++round) {
    CHECK(owner.round({input_of(map, 0, 1)}) == Members{});
  }
  CHECK(owner.round({input_of(map, 0, 2e4)}) == Members{0});
}

TEST_CASE("guard: a tiny weight makes a contribution large", "[guard]") {
  const ParamMap map = map_of(kGranule);
  Owner owner(map);
  for (int round = 0; round < 10; ++round) {
    REQUIRE(owner.round({input_of(map, 0, 1)}) == Members{});
  }
  auto light = input_of(map, 1, 1);
  light.weights.front().weight = 1e-9;
  CHECK(owner.round({input_of(map, 0, 1), light}) == Members{1});
}

TEST_CASE("guard: another part begins anew, and the reference fades by halves", "[guard]") {
  GuardOptions options;
  NormReference reference;
  const std::vector<double> one = {1};
  for (std::uint64_t round = 0; round < options.rounds_min; ++round) {
    reference.accept({0, 4}, one, options);
  }
  CHECK(reference.bound({0, 4}, options) == options.norm_factor);
  CHECK(reference.bound({0, 5}, options) == options.norm_max);
  const std::vector<double> none = {0};
  for (int round = 0; round < 128; ++round) {
    reference.accept({0, 4}, none, options);
  }
  // 128 roundings of 2^-53 each.
  CHECK(std::abs(reference.bound({0, 4}, options) / options.norm_factor - 0.5) < 1e-13);
  reference.accept({0, 4}, {}, options);  // a round that nobody contributed to is none
  CHECK(std::abs(reference.bound({0, 4}, options) / options.norm_factor - 0.5) < 1e-13);
  reference.accept({0, 5}, one, options);
  CHECK(reference.bound({0, 5}, options) == options.norm_max);
}

}  // namespace
}  // namespace shoal::comm
