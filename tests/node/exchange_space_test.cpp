#include "node/exchange_space.h"

#include "tests/node/support/team.h"

namespace shoal::node::tests {
namespace {

/// A model with a large tensor, a small one, and buffers of each policy, one larger than a granule.
ParamMap model() {
  ParamMap map;
  const auto add = [&](const char* name, std::int64_t elements) {
    Param p;
    p.name = name;
    p.shape = {elements};
    REQUIRE(map.add(std::move(p)).ok());
  };
  const auto add_buffer = [&](const char* name, std::int64_t elements, BufferPolicy policy) {
    Buffer b;
    b.name = name;
    b.shape = {elements};
    b.policy = policy;
    REQUIRE(map.add_buffer(std::move(b)).ok());
  };
  add("small", 10);
  add("large", 5000);
  add_buffer("mean", 7, BufferPolicy::kAverage);
  add_buffer("count", 1, BufferPolicy::kCopy);
  add_buffer("wide", 9000, BufferPolicy::kAverage);
  add_buffer("own", 3, BufferPolicy::kKeepLocal);
  map.seal();
  return map;
}

std::vector<float> numbered(std::size_t count, float first) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = first + static_cast<float>(i);
  }
  return out;
}

}  // namespace

TEST_CASE("exchange space: of a model without buffers it is the model's own") {
  const auto parts = must(make_peer_parts(Team::config(2, 0, {}), Log()));
  const ExchangeSpace space = must(ExchangeSpace::make(parts.architecture->map()));
  CHECK_FALSE(space.has_buffers());
  CHECK(space.map().model_hash() == parts.architecture->map().model_hash());
  CHECK(space.map().flat_size() == parts.architecture->map().flat_size());
}

TEST_CASE("exchange space: parameters keep their place, averaged buffers travel as fp32") {
  const ParamMap map = model();
  const ExchangeSpace space = must(ExchangeSpace::make(map));
  CHECK(space.has_buffers());
  for (const Param& p : map.params()) {
    CHECK(space.map().find(p.name)->offset == p.offset);
  }
  for (const Param& p : space.map().params()) {
    const bool buffer = map.find(p.name) == nullptr;
    CHECK((!buffer || space.map().granule_packed(p.offset / kGranule)));
  }
}

TEST_CASE("exchange space: what is put is taken, averaged buffers only") {
  const ParamMap map = model();
  const ExchangeSpace space = must(ExchangeSpace::make(map));
  const auto theirs = numbered(static_cast<std::size_t>(map.buffer_size()), 1);
  std::vector<float> x(static_cast<std::size_t>(map.flat_size()), 0);
  for (const Param& p : map.params()) {
    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(p.offset), p.elements, 2.0F);
  }
  const auto parameters = x;
  space.put(theirs, x);
  REQUIRE(x.size() == space.map().flat_size());

  const auto mine = numbered(theirs.size(), -100'000);
  std::vector<float> got = mine;
  std::vector<float> values = x;
  const compress::WeightRun all{{0, space.map().granule_count()}, 1};
  space.take(values, std::span(&all, 1), got);
  CHECK(values == parameters);  // padding is zero again
  for (const Buffer& b : map.buffers()) {
    const bool averaged = b.policy == BufferPolicy::kAverage;
    for (std::uint64_t i = b.offset; i < b.offset + b.elements; ++i) {
      CHECK(got[i] == (averaged ? theirs[i] : mine[i]));
    }
  }
}

TEST_CASE("exchange space: where nobody contributed, buffers stay what they were") {
  const ParamMap map = model();
  const ExchangeSpace space = must(ExchangeSpace::make(map));
  const auto mine = numbered(static_cast<std::size_t>(map.buffer_size()), 1);
  std::vector<float> got = mine;
  std::vector<float> values(static_cast<std::size_t>(space.map().flat_size()), 0);
  const compress::WeightRun none{{0, space.map().granule_count()}, 0};
  space.take(values, std::span(&none, 1), got);
  CHECK(got == mine);
}

namespace {

/// Three peers with a batch norm, each with samples of its own.
std::vector<std::string> with_batch_norm(const std::string& statistics, const char* strategy) {
  std::vector<std::string> settings = {
      "model.name=layers",
      "model.layers=[linear 16, batch_norm statistics=" + statistics + ", relu, linear 4]",
      "data.mode=private", "train.batch=48", "sync.name=" + std::string(strategy)};
  if (settings.back() == "sync.name=local") {
    settings.insert(settings.end(), {"train.batch=16", "sync.period=3"});
  }
  return settings;
}

}  // namespace

TEST_CASE("batch norm: averaged statistics are the same on all peers, and have moved") {
  for (const char* strategy : {"allreduce", "local"}) {
    INFO(strategy);
    Team team(3, with_batch_norm("average", strategy));
    const std::vector<float> start = team.state(0).buffers;
    REQUIRE(start.size() > 0);
    team.run();
    require_equal_replicas(team);
    CHECK(team.state(0).buffers != start);
    for (std::size_t i = 1; i < 3; ++i) {
      CHECK(team.state(i).buffers == team.state(0).buffers);
    }
    for (const Buffer& b : team.state(0).map().buffers()) {
      CHECK(b.policy == BufferPolicy::kAverage);
    }
    CHECK(team.summaries[0]->test_accuracy > 0.9);
  }
}

TEST_CASE("batch norm: statistics to be kept stay each peer's own") {
  for (const char* strategy : {"allreduce", "local"}) {
    INFO(strategy);
    Team team(3, with_batch_norm("keep_local", strategy));
    const std::vector<float> start = team.state(0).buffers;
    team.run();
    require_equal_replicas(team);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(team.state(i).buffers == start);  // the group holds none of them
      CHECK(team.own_buffers(i) != start);
      CHECK(team.own_buffers(i) != team.own_buffers((i + 1) % 3));
    }
  }
}

}  // namespace shoal::node::tests
