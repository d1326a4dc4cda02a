#include "node/bench/bench.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "comm/limits.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

struct BenchArguments {
  CodecBench codec;
  TransportBench transport;
  OpsBench ops;
  MeanBench mean;
  bool as_peer = false;
};

CLI::App* add_codec(CLI::App& app, CodecBench& what) {
  CLI::App* sub =
      app.add_subcommand("codec", "encoding and decoding beside memcpy, one thread, medians");
  sub->add_option("names", what.codecs,
                  "which codecs: NAME, or NAME:key=value with an option set; all if left out");
  auto* elements = sub->add_option("--elements", what.elements,
                                   "floats of the array; one in memory and one in cache if 0");
  elements->check(CLI::Range(0, 1 << 28));
  sub->add_option("--input", what.input,
                  "NPY file of float32, such as a gradient, on which codecs are judged too")
      ->excludes(elements);
  return sub;
}

CLI::App* add_transport(CLI::App& app, TransportBench& what) {
  CLI::App* sub = app.add_subcommand(
      "transport", "256 KiB chunks over loopback beside a raw TCP socket, all ends on one CPU");
  sub->add_option("--megabytes", what.megabytes, "moved in each turn")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  sub->add_option("--turns", what.turns, "turns, of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  return sub;
}

CLI::App* add_ops(CLI::App& app, OpsBench& what) {
  CLI::App* sub = app.add_subcommand(
      "ops", "a step of training and the products in it, beside a large product");
  sub->add_option(
      "config", what.config,
      "TOML file; if left out, each model on the default data (or --set data.name=...)");
  sub->add_option("--seconds", what.seconds, "of measuring, for each figure")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 3600.0));
  return sub;
}

CLI::App* add_mean(CLI::App& app, BenchArguments& arguments) {
  MeanBench& what = arguments.mean;
  CLI::App* sub =
      app.add_subcommand("mean", "a group's mean over loopback, each peer a process of its own");
  sub->add_option("--peers", what.peers, "peers of the group")
      ->capture_default_str()
      ->check(CLI::Range(1, static_cast<int>(comm::limits::kMembersMax)));
  sub->add_option("--elements", what.elements, "floats of the array")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 28));
  sub->add_option("--codec", what.codec, "what is sent and answered")->capture_default_str();
  sub->add_option("--rounds", what.rounds, "rounds, of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  sub->add_flag("--insecure-loopback", what.insecure, "without encryption, for comparisons");
  sub->add_flag("--as-peer", arguments.as_peer)->group("");
  return sub;
}

Status run(const Cli& cli, const CLI::App& app, const BenchArguments& arguments) {
  const std::string what = app.get_subcommands().front()->get_name();
  if (what == "codec") {
    return bench_codec(cli, arguments.codec);
  }
  if (what == "transport") {
    return bench_transport(cli, arguments.transport);
  }
  return what == "ops" ? bench_ops(cli, arguments.ops) : bench_mean(cli, arguments.mean);
}

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<BenchArguments>();
  app.require_subcommand(1);
  for (CLI::App* sub : {add_codec(app, arguments->codec), add_transport(app, arguments->transport),
                        add_ops(app, arguments->ops), add_mean(app, *arguments)}) {
    sub->fallthrough();  // --set and --json are options of `bench`
  }
  return [arguments, &app](const Cli& cli) {
    if (arguments->as_peer) {
      return bench_mean_peer(cli, arguments->mean);
    }
    const Status status = run(cli, app, *arguments);
    return status.ok() ? 0 : cli.fail(status.error());
  };
}

}  // namespace

Command bench_command() { return {"bench", "speed of parts of shoal on this machine", declare}; }

}  // namespace shoal::node
