#include <cstdio>

#include "comm/bench.h"
#include "node/bench/bench.h"
#include "node/json.h"

namespace shoal::node {

Status bench_transport(const Cli& cli, const TransportBench& what) {
  SHOAL_ASSIGN(const comm::TransportFigures figures,
               comm::bench_transport(what.megabytes * 1'000'000, what.turns));
  nlohmann::ordered_json rows = nlohmann::json::array();
  const auto row = [&](const char* name, double rate) {
    rows.push_back(
        {{"transport", name}, {"gbps", rate / 1e9}, {"of_raw_tcp", rate / figures.raw_tcp}});
    char line[120];
    std::snprintf(line, sizeof line, "%-28s %6.2f GB/s   %.2f of raw TCP", name, rate / 1e9,
                  rate / figures.raw_tcp);
    cli.log().info(line);
  };
  row("raw tcp", figures.raw_tcp);
  row("zeromq", figures.plain);
  row("zeromq, encrypted", figures.encrypted);
  if (cli.json) {
    std::puts(rows.dump(2).c_str());
  }
  return {};
}

}  // namespace shoal::node
