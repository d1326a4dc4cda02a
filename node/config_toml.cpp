#include "node/config_toml.h"

#include <toml++/toml.h>

#include <algorithm>

namespace shoal::node {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 20;

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

/// Depth is bounded by toml++ (256 levels), so recursion is.
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

}  // namespace

Result<std::vector<Setting>> read_toml(std::string_view text, const std::string& name) {
  if (text.size() > kTextBytesMax) {
    return config_error(name + " is larger than 1 MiB, which no configuration is");
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
