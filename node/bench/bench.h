#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/cli.h"
#include "ops/base/result.h"

/// What `shoal bench` measures, each in a file of its own: text on stderr, rows with --json.
namespace shoal::node {

struct CodecBench {
  std::vector<std::string> codecs;  ///< NAME or NAME:key=value; none: all, with their choices
  std::uint64_t elements = 0;       ///< 0: one array in memory and one in cache
  std::string input;  ///< an NPY file of float32 instead, on which codecs are judged too
};
/// Encoding and decoding beside memcpy. Errors: kConfig for an unknown codec, kData for the file.
Status bench_codec(const Cli& cli, const CodecBench& what);

struct TransportBench {
  std::uint64_t megabytes = 256;  ///< moved in one turn
  int turns = 5;
};
/// 256 KiB chunks over an endpoint beside a raw TCP socket. Errors: kNetwork.
Status bench_transport(const Cli& cli, const TransportBench& what);

struct OpsBench {
  std::optional<std::string> config;  ///< none: each model of the registry on the default data
  double seconds = 1;                 ///< of measuring, for each figure
};
/// A step of training and the products in it. Errors: kConfig, kData, kDevice.
Status bench_ops(const Cli& cli, const OpsBench& what);

struct MeanBench {
  std::size_t peers = 4;
  std::uint64_t elements = 6'250'000;  ///< 25 MB
  std::string codec = "fp32";
  int rounds = 20;
  bool insecure = false;
};
/// The mean of a group of processes over loopback. Errors: kConfig, kNetwork.
Status bench_mean(const Cli& cli, const MeanBench& what);
/// One of its processes, told of the others through its parent's pipe; the exit code.
int bench_mean_peer(const Cli& cli, const MeanBench& what);

}  // namespace shoal::node
