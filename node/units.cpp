#include "node/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace shoal::node {
namespace {

constexpr double kBytesMax = 1e18;

/// Number and the unit behind it; a space between is allowed.
std::optional<std::pair<double, std::string_view>> split(std::string_view text) {
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || !std::isfinite(number) || number < 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  return std::pair(number, text);
}

/// What the prefix of a unit multiplies by; takes it off.
double take_prefix(std::string_view& unit) {
  static constexpr std::pair<std::string_view, double> kPrefixes[] = {
      {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
      {"k", 1e3},     {"K", 1e3},        {"M", 1e6},           {"G", 1e9},
      {"T", 1e12}};
  for (const auto& [name, factor] : kPrefixes) {
    if (unit.starts_with(name)) {
      unit.remove_prefix(name.size());
      return factor;
    }
  }
  return 1;
}

}  // namespace

Result<double> parse_rate(std::string_view text) {
  if (text.empty() || text == "0") {
    return 0.0;
  }
  if (const auto parts = split(text)) {
    std::string_view unit = parts->second;
    const double factor = take_prefix(unit);
    const double rate = parts->first * factor * (unit == "bit/s" ? 0.125 : 1);
    if ((unit == "bit/s" || unit == "B/s") && rate < kBytesMax) {
      return rate;
    }
  }
  return config_error("\"" + std::string(text) +
                      "\" is no rate; write a number and a unit: 20Mbit/s, 2.5MB/s, 512KiB/s");
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  if (text.empty()) {
    return std::uint64_t{0};
  }
  if (const auto parts = split(text)) {
    std::string_view unit = parts->second;
    const double bytes = parts->first * take_prefix(unit);
    if ((unit == "B" || (unit.empty() && parts->second.empty())) && bytes < kBytesMax) {
      return static_cast<std::uint64_t>(bytes);
    }
  }
  return config_error("\"" + std::string(text) +
                      "\" is no size; write a number and a unit: 512MiB, 2GB");
}

Result<Hours> parse_hours(std::string_view text) {
  if (text.empty()) {
    return Hours{};
  }
  Hours hours;
  const auto* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, hours.begin);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '-') {
    const auto second = std::from_chars(first.ptr + 1, end, hours.end);
    if (second.ec == std::errc() && second.ptr == end && hours.begin >= 0 && hours.begin < 24 &&
        hours.end > 0 && hours.end <= 24 && hours.begin != hours.end) {
      return hours;
    }
  }
  return config_error("\"" + std::string(text) +
                      "\" are no hours; write the first and the last on a 24-hour clock: 22-7");
}

bool Hours::contains(int hour) const {
  return begin < end ? hour >= begin && hour < end : hour >= begin || hour < end;
}

std::string bytes_text(double bytes) {
  static constexpr std::array kUnits = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  const int digits = unit == 0 || bytes >= 99.95 ? 0 : 1;
  std::snprintf(text, sizeof text, "%.*f %s", digits, bytes, kUnits[unit]);
  return text;
}

}  // namespace shoal::node
