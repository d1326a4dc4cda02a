#include "node/config_toml.h"

#include <toml++/toml.h>

#include <algorithm>

namespace shoal::node {
namespace {

constexpr std::size_t kDepthMax = 32;

const char* type_words(toml::node_type type) {
  switch (type) {
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    case toml::node_type::array:
      return "a mixed list";
    case toml::node_type::table:
      return "a table";
    default:
      return "a value of another kind";
  }
}

/// A list of whole numbers or of strings; anything else is odd.
void read_list(const toml::array& list, Setting& setting) {
  if (list.empty() || list.is_homogeneous(toml::node_type::integer)) {
    std::vector<std::int64_t> numbers;
    for (const auto& item : list) {
      numbers.push_back(**item.as_integer());
    }
    setting.value = std::move(numbers);
  } else if (list.is_homogeneous(toml::node_type::string)) {
    std::vector<std::string> strings;
    for (const auto& item : list) {
      strings.push_back(**item.as_string());
    }
    setting.value = std::move(strings);
  } else {
    setting.form = Setting::Form::kOdd;
    setting.value = std::string(type_words(toml::node_type::array));
  }
}

Setting read_value(std::string key, const toml::node& node, Origin origin) {
  Setting setting{std::move(key), Setting::Form::kTyped, {}, std::move(origin)};
  if (const auto* b = node.as_boolean()) {
    setting.value = **b;
  } else if (const auto* i = node.as_integer()) {
    setting.value = **i;
  } else if (const auto* f = node.as_floating_point()) {
    setting.value = **f;
  } else if (const auto* s = node.as_string()) {
    setting.value = **s;
  } else if (const auto* list = node.as_array()) {
    read_list(*list, setting);
  } else {
    setting.form = Setting::Form::kOdd;
    setting.value = std::string(type_words(node.type()));
  }
  return setting;
}

/// Depth is bounded by `too_deep`, so recursion is.
void flatten(const toml::table& table, const std::string& prefix, const std::string& name,
             std::vector<Setting>& out) {
  for (const auto& [key, node] : table) {
    const Origin origin{Origin::Kind::kFile, name + ":" + std::to_string(node.source().begin.line)};
    const std::string full = prefix + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      out.push_back({full, Setting::Form::kTable, {}, origin});
      flatten(*inner, full + ".", name, out);
    } else {
      out.push_back(read_value(full, node, origin));
    }
  }
}

/// Steps over a string or a comment that begins at `at`; stays where neither does.
std::size_t after_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote == '#') {
    return std::min(text.find('\n', at), text.size());
  }
  if (quote != '"' && quote != '\'') {
    return at;
  }
  const std::string three(3, quote);
  const bool multi = text.substr(at, 3) == three;
  const std::string_view end = multi ? std::string_view(three) : std::string_view(three).substr(2);
  at += end.size();
  while (at < text.size() && text.substr(at, end.size()) != end) {
    at += quote == '"' && text[at] == '\\' ? 2 : 1;
  }
  at += end.size();
  for (int i = 0; multi && i < 2 && at < text.size() && text[at] == quote; ++i) {
    ++at;  // up to two quotes may stand before the closing three
  }
  return std::min(at, text.size());
}

/// Line where brackets or a dotted key go deeper than any configuration does; 0 nowhere. toml++
/// bounds nested values, but recurses over the parts of a dotted key until the stack is full.
std::size_t too_deep(std::string_view text) {
  std::size_t dots = 0;
  std::size_t open = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t next = after_text(text, at); next != at) {
      at = next;
      continue;
    }
    const char c = text[at++];
    if (c == '.') {
      ++dots;
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
      dots = 0;
      open += c == '[' || c == '{' ? 1 : 0;
    } else if (c == ']' || c == '}') {
      open -= std::min<std::size_t>(open, 1);
    }
    if (dots > kDepthMax || open > kDepthMax) {
      return 1 + static_cast<std::size_t>(std::count(
                     text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at - 1), '\n'));
    }
  }
  return 0;
}

}  // namespace

Result<std::vector<Setting>> read_toml(std::string_view text, const std::string& name) {
  if (text.size() > kTomlBytesMax) {
    return config_error(name + " is larger than 1 MiB, which no configuration is");
  }
  if (const std::size_t line = too_deep(text); line > 0) {
    return config_error(name + ":" + std::to_string(line) +
                        ": nested deeper than any configuration is");
  }
  try {
    const toml::table root = toml::parse(text);
    std::vector<Setting> settings;
    flatten(root, "", name, settings);
    return settings;
  } catch (const toml::parse_error& error) {
    return config_error(name + ":" + std::to_string(error.source().begin.line) +
                        ": this is no TOML: " + std::string(error.description()));
  }
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

}  // namespace shoal::node
