#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/base/result.h"

namespace shoal::node {

/// Bytes per second from "20Mbit/s", "2.5MB/s", "512KiB/s"; "0" and "" mean no limit and give 0.
/// Units: bit is an eighth of a byte; k, M, G are powers of 1000; Ki, Mi, Gi of 1024.
/// Errors: kConfig.
Result<double> parse_rate(std::string_view text);

/// Bytes from "64MiB", "2GB", "4096"; "0" and "" mean no limit and give 0. Errors: kConfig.
Result<std::uint64_t> parse_bytes(std::string_view text);

/// Hours [begin, end) of the local day; over midnight when begin > end.
struct Hours {
  int begin = 0;
  int end = 24;
  /// Requires: 0 <= hour < 24.
  [[nodiscard]] bool contains(int hour) const;
};

/// "22-7", "9-17"; "" is the whole day. Errors: kConfig.
Result<Hours> parse_hours(std::string_view text);

/// "1.5 MB", "312 KB" for people.
std::string bytes_text(double bytes);

}  // namespace shoal::node
