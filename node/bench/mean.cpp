#include <poll.h>

#include <algorithm>
#include <cstdio>

#include "comm/bench.h"
#include "comm/identity.h"
#include "compress/codec.h"
#include "node/bench/bench.h"
#include "node/json.h"
#include "node/pace.h"
#include "node/run/child.h"
#include "node/run/own_binary.h"
#include "node/run/pipe_lines.h"

namespace shoal::node {
namespace {

constexpr Duration kWithin = std::chrono::minutes(5);
constexpr std::uint64_t kCalibrationBytes = 256'000'000;
constexpr int kCalibrationTurns = 3;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<std::vector<Child>> start_peers(const MeanBench& what) {
  std::vector<Child> children;
  const std::string program = own_binary();
  for (std::size_t i = 0; i < what.peers; ++i) {
    std::vector<std::string> words = {"bench",      "mean",
                                      "--peers",    std::to_string(what.peers),
                                      "--elements", std::to_string(what.elements),
                                      "--codec",    what.codec,
                                      "--rounds",   std::to_string(what.rounds),
                                      "--as-peer"};
    if (what.insecure) {
      words.emplace_back("--insecure-loopback");
    }
    SHOAL_ASSIGN(Child child, Child::start(program, words));
    children.push_back(std::move(child));
  }
  return children;
}

/// The next line of each peer, in order.
Result<std::vector<PeerLine>> hear_all(std::vector<Child>& children, const Clock& clock) {
  const TimePoint end = clock.now() + kWithin;
  std::vector<PeerLine> out;
  for (Child& child : children) {
    std::vector<std::string> lines;
    while (lines.empty()) {
      pollfd p{child.output(), POLLIN, 0};
      ::poll(&p, 1, 1000);
      lines = child.read_lines();
      if (lines.empty() && (child.output() < 0 || clock.now() >= end)) {
        return network_error("a peer of the measurement ended or was silent");
      }
    }
    SHOAL_ASSIGN(PeerLine line, parse_peer_line(lines.front()));
    if (const auto* note = std::get_if<NoteLine>(&line); note && note->level == Level::kError) {
      return network_error(note->text);
    }
    out.push_back(std::move(line));
  }
  return out;
}

/// Median over peers of the median round, in seconds.
Result<double> measure(const MeanBench& what, const Clock& clock) {
  SHOAL_ASSIGN(std::vector<Child> children, start_peers(what));
  SHOAL_ASSIGN(const auto ready, hear_all(children, clock));
  RosterLine roster;
  roster.run = comm::random_u64();
  for (const PeerLine& line : ready) {
    if (const auto* card = std::get_if<ReadyLine>(&line)) {
      roster.peers.push_back(card->card);
    }
  }
  const std::string text = line_text(ParentLine(roster));
  for (const Child& child : children) {
    child.write_line(text);
  }
  SHOAL_ASSIGN(const auto said, hear_all(children, clock));
  std::vector<double> medians;
  for (const PeerLine& line : said) {
    if (const auto* note = std::get_if<NoteLine>(&line)) {
      const auto times = nlohmann::json::parse(note->text, nullptr, false);
      medians.push_back(median(times.get<std::vector<double>>()));
    }
  }
  for (Child& child : children) {
    child.wait();
  }
  return median(std::move(medians));
}

}  // namespace

Status bench_mean(const Cli& cli, const MeanBench& what) {
  SHOAL_TRY(compress::make_codec(what.codec, {}));  // before anything is started
  const BootClock clock;
  SHOAL_ASSIGN(const comm::TransportFigures link,
               comm::bench_transport(kCalibrationBytes, kCalibrationTurns));
  SHOAL_ASSIGN(const double took, measure(what, clock));
  // Each peer sends and receives 2(n-1)/n of the array; a CPU that moves both ends of a raw TCP
  // socket's bytes at `raw_tcp` is shared by those peers that have none of their own.
  const auto n = static_cast<double>(what.peers);
  const double crowd = std::max(1.0, n / static_cast<double>(available_cpus()));
  const double bytes = 2 * (n - 1) / n * 4 * static_cast<double>(what.elements);
  const double bound = bytes / link.raw_tcp * crowd;
  const nlohmann::ordered_json row = {
      {"peers", what.peers},      {"elements", what.elements},
      {"codec", what.codec},      {"encrypted", !what.insecure},
      {"ms", 1e3 * took},         {"bound_ms", 1e3 * bound},
      {"of_bound", bound / took}, {"raw_tcp_gbps", link.raw_tcp / 1e9}};
  char line[200];
  std::snprintf(line, sizeof line,
                "%zu peers, %llu floats as %s, %s: %.2f ms; %.2f ms as raw TCP of float32 "
                "(%.2f of that speed)",
                what.peers, static_cast<unsigned long long>(what.elements), what.codec.c_str(),
                what.insecure ? "open" : "encrypted", 1e3 * took, 1e3 * bound, bound / took);
  cli.log().info(line);
  if (cli.json) {
    std::puts(nlohmann::ordered_json::array({row}).dump(2).c_str());
  }
  return {};
}

}  // namespace shoal::node
