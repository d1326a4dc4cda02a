#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace shoal::node {

/// A real for a file: JSON has no NaN, so a figure that is none becomes null.
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// The way back; NaN when the key is missing or holds no number.
inline double json_real(const nlohmann::ordered_json& json, const char* key) {
  const auto it = json.find(key);
  return it == json.end() || !it->is_number() ? std::nan("") : it->get<double>();
}

}  // namespace shoal::node
