#pragma once

#include <cstdint>

#include "ops/base/result.h"

namespace shoal::comm {

/// Medians of turns in which all three moved the same bytes in 256 KiB pieces over loopback, all
/// ends on one CPU. Units: bytes/s.
struct TransportFigures {
  double raw_tcp = 0;    ///< send and recv on one pair of sockets, one thread
  double plain = 0;      ///< ZmqEndpoint with --insecure-loopback
  double encrypted = 0;  ///< ZmqEndpoint
};

/// Measures the transport against a plain TCP socket. The calling thread is kept on its present
/// CPU meanwhile, and so are the threads that libzmq starts.
/// Errors: kNetwork, kInternal when sockets cannot be had.
Result<TransportFigures> bench_transport(std::uint64_t bytes, int turns);

}  // namespace shoal::comm
