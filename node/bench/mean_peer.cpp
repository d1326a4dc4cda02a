// One process of `shoal bench mean`.
#include <unistd.h>

#include <cstdio>

#include "comm/founding.h"
#include "comm/group_mean.h"
#include "comm/session.h"
#include "comm/workers.h"
#include "comm/zmq_endpoint.h"
#include "node/bench/bench.h"
#include "node/json.h"
#include "node/run/child.h"
#include "node/run/pipe_lines.h"
#include "ops/fp_env.h"

namespace shoal::node {
namespace {

constexpr Duration kGatherWithin = std::chrono::seconds(60);
constexpr Duration kFinishWithin = std::chrono::seconds(5);

void say(const PeerLine& line) {
  std::puts(line_text(line).c_str());
  std::fflush(stdout);
}

/// A state of nothing but its round.
class NoState final : public comm::GroupHost {
 public:
  ControlInput control(std::uint64_t /*round*/) override { return {}; }
  [[nodiscard]] std::uint64_t applied_round() const override { return applied; }
  std::optional<Bytes> snapshot() override { return Bytes(); }
  Status restore(const Bytes& /*snapshot*/, std::uint64_t round) override {
    applied = round;
    return {};
  }
  std::optional<Hash256> state_hash() override { return std::nullopt; }
  void committed(const comm::RoundRecord& /*record*/) override {}

  std::uint64_t applied = 0;
};

/// Everything that a round needs.
struct Bench {
  comm::Loop& loop;
  comm::Session& session;
  const ParamMap& map;
  comm::CodecChoice codec;
  comm::FoundingOptions founding;
  int rounds;
};

comm::Task<Status> run_rounds(Bench& bench, std::vector<double>& times) {
  const Log quiet;
  auto first = co_await comm::wait_for_members(bench.loop, bench.session, bench.founding,
                                               bench.loop.now() + kGatherWithin, quiet);
  if (!first.ok()) {
    co_return first.error();
  }
  NoState host;
  comm::GroupOptions options;
  options.reproducible = true;  // a peer that is late is no less measured
  comm::GroupMean group(bench.loop, bench.session, host, bench.map, bench.codec, options, quiet);
  bench.session.set_receiver(&group);
  group.start(first->branch, first->view, 0, Hash256{});
  for (const auto& [from, message] : first->early) {
    group.on_message(from, message);
  }
  const std::vector<float> x(static_cast<std::size_t>(bench.map.flat_size()), 1.0F);
  for (int round = 0; round <= bench.rounds; ++round) {
    const TimePoint start = bench.loop.now();
    auto mean = co_await group.mean(x, 1, bench.codec);
    if (!mean.ok()) {
      co_return mean.error();
    }
    host.applied = mean->record.round;
    if (round > 0) {  // the first finds its pages and its pace
      times.push_back(seconds(bench.loop.now() - start));
    }
  }
  co_await group.finish(kFinishWithin);
  bench.session.set_receiver(nullptr);
  co_return Status();
}

comm::Task<void> run_bench(Bench& bench, std::vector<double>& times, Status& status) {
  status = co_await run_rounds(bench, times);
  bench.loop.stop();
}

Result<ParamMap> map_of(std::uint64_t elements) {
  ParamMap map;
  Param param;
  param.name = "x";
  param.shape = {static_cast<std::int64_t>(elements)};
  SHOAL_TRY(map.add(std::move(param)));
  map.seal();
  return map;
}

Result<std::vector<double>> take_part(const MeanBench& what) {
  ops::set_strict_fp_env();
  SHOAL_ASSIGN(const auto endpoint, comm::ZmqEndpoint::open({.identity = comm::Identity::generate(),
                                                             .listen = "127.0.0.1",
                                                             .port = 0,
                                                             .announce = {},
                                                             .insecure_loopback = what.insecure}));
  say(ReadyLine{{endpoint->self(), "bench", endpoint->announced()}});
  ParentPipe parent(STDIN_FILENO);
  SHOAL_ASSIGN(const std::string text, parent.wait_line());
  SHOAL_ASSIGN(const ParentLine line, parse_parent_line(text));
  const auto* roster = std::get_if<RosterLine>(&line);
  if (roster == nullptr || roster->peers.empty()) {
    return internal_error("the measurement has no peers");
  }
  SHOAL_ASSIGN(const ParamMap map, map_of(what.elements));
  SHOAL_ASSIGN(std::unique_ptr<compress::Codec> made, compress::make_codec(what.codec, {}));
  const std::shared_ptr<const compress::Codec> codec = std::move(made);
  std::vector<double> times;
  Status status;
  {
    comm::ThreadWorkers workers;
    comm::Loop loop(*endpoint, &workers);
    comm::SessionOptions options;
    options.facts = {roster->run, map.model_hash(), {}, false};
    options.name = "bench";
    options.addresses = endpoint->announced();
    options.draw_session = [] { return comm::random_u64() | 1U; };
    comm::Session session(loop, std::move(options), {}, Log());
    for (const comm::PeerCard& card : roster->peers) {
      if (card.id != endpoint->self()) {
        session.allow(card.id, card.addresses);
      }
    }
    comm::FoundingOptions founding;
    founding.members = what.peers;
    founding.granules = map.granule_count();
    founding.may_cut = comm::cuts_of(codec, std::make_shared<const ParamMap>(map));
    founding.founder = roster->peers.front().id == endpoint->self();
    founding.branch = comm::random_u64();
    Bench bench{loop, session, map, comm::CodecChoice(codec), founding, what.rounds};
    loop.spawn(run_bench(bench, times, status));
    loop.run();
    session.leave("measured");
  }
  endpoint->close(comm::limits::kLinger);
  SHOAL_TRY(status);
  return times;
}

}  // namespace

int bench_mean_peer(const Cli& /*cli*/, const MeanBench& what) {
  const auto times = take_part(what);
  if (!times.ok()) {
    say(NoteLine{Level::kError, times.error().message});
    return exit_code(times.error().code);
  }
  say(NoteLine{Level::kInfo, nlohmann::json(*times).dump()});
  return 0;
}

}  // namespace shoal::node
