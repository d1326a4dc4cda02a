#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/config.h"
#include "node/config_toml.h"

/// The effective configuration for people, for files and for programs.
namespace shoal::node {
namespace {

constexpr std::size_t kCommentColumn = 36;

std::string toml_value(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return toml_string(*text);
  }
  if (std::holds_alternative<Duration>(value)) {
    return toml_string(option_text(value));
  }
  std::string text = option_text(value);
  const bool is_float = std::holds_alternative<double>(value);
  if (is_float && text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

nlohmann::json json_value(const OptionValue& value) {
  return std::visit(
      [](const auto& v) -> nlohmann::json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Duration>) {
          return option_text(v);
        } else {
          return v;
        }
      },
      value);
}

}  // namespace

std::string Config::effective() const {
  std::string out;
  for (const auto& table : schema_->tables) {
    const std::string prefix = table.name.empty() ? "" : table.name + ".";
    std::string lines;
    for (const auto& [key, entry] : entries_) {
      if (!key.starts_with(prefix) || key.find('.', prefix.size()) != std::string::npos) {
        continue;
      }
      std::string line = key.substr(prefix.size()) + " = " + toml_value(entry.value);
      line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
      lines += line + "# " + entry.origin.text() + "\n";
    }
    if (!lines.empty()) {
      out += table.name.empty() ? lines : "\n[" + table.name + "]\n" + lines;
    }
  }
  return out;
}

std::string Config::effective_json() const {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [key, entry] : entries_) {
    out[key] = {{"value", json_value(entry.value)},
                {"origin", entry.origin.text()},
                {"help", entry.help},
                {"scope", entry.scope == Scope::kRun ? "run" : "peer"}};
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace shoal::node
