#include "ops/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

#include "ops/base/check.h"

namespace shoal {
namespace {

std::string float_text(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end.ptr};
}

template <typename T>
bool parse_number(std::string_view text, T& value) {
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return !text.empty() && result.ec == std::errc() && result.ptr == end;
}

/// One item of a list, in quotes or not, and what stands behind it. A quoted one is what
/// option_text writes: a backslash goes before a quote, another backslash, n (line end) or t (tab).
std::optional<std::string> take_item(std::string_view& text) {
  const auto blank = [](char c) { return c == ' '; };
  text.remove_prefix(
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), blank) - text.begin()));
  std::string item;
  if (text.empty() || text.front() != '"') {
    item = text.substr(0, text.find(','));
    text.remove_prefix(item.size());
    item.erase(item.find_last_not_of(' ') + 1);
    return item;
  }
  for (text.remove_prefix(1); !text.empty() && text.front() != '"'; text.remove_prefix(1)) {
    char c = text.front();
    if (c == '\\') {
      text.remove_prefix(1);
      if (text.empty() || std::string_view("\"\\nt").find(text.front()) == std::string_view::npos) {
        return std::nullopt;
      }
      c = text.front() == 'n' ? '\n' : text.front() == 't' ? '\t' : text.front();
    }
    item += c;
  }
  const auto behind = text.find_first_not_of(' ', 1);
  if (text.empty() || (behind != std::string_view::npos && text[behind] != ',')) {
    return std::nullopt;
  }
  text.remove_prefix(std::min(behind, text.size()));
  return item;
}

/// "[a, b]" or "a,b". Empty for a quote that is not closed, or that something follows.
std::optional<std::vector<std::string>> split_list(std::string_view text) {
  if (!text.empty() && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  std::vector<std::string> items;
  while (!text.empty()) {
    auto item = take_item(text);
    if (!item) {
      return std::nullopt;
    }
    items.push_back(std::move(*item));
    text.remove_prefix(std::min<std::size_t>(1, text.size()));  // the comma
  }
  return items;
}

/// As a basic string of TOML.
std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
  }
  return out + "\"";
}

const char* type_words(OptionType type) {
  switch (type) {
    case OptionType::kBool:
      return "true or false";
    case OptionType::kInt:
      return "a whole number";
    case OptionType::kFloat:
      return "a number";
    case OptionType::kString:
      return "a string";
    case OptionType::kDuration:
      return "a duration such as \"2s\" or \"5m\"";
    case OptionType::kIntList:
      return "a list of whole numbers";
    case OptionType::kStringList:
      return "a list of strings";
  }
  return "a value";
}

Error wrong_type(const OptionSpec& spec, std::string_view shown) {
  return config_error(spec.name + " must be " + type_words(spec.type) + ", not " +
                      std::string(shown));
}

Status check_bounds(const OptionSpec& spec, double value) {
  const bool low = spec.minimum && value < *spec.minimum;
  const bool high = spec.maximum && value > *spec.maximum;
  if (!low && !high && std::isfinite(value)) {
    return {};
  }
  std::string allowed;
  if (spec.minimum) {
    allowed += " at least " + float_text(*spec.minimum);
  }
  if (spec.maximum) {
    allowed += std::string(allowed.empty() ? "" : " and") + " at most " + float_text(*spec.maximum);
  }
  return config_error(spec.name + " must be" + (allowed.empty() ? " finite" : allowed) + ", not " +
                      float_text(value));
}

}  // namespace

template <typename T>
const T& Options::get(std::string_view name) const {
  const auto it = values_.find(name);
  SHOAL_CHECK(it != values_.end(), "an option is declared before it is read");
  const T* value = std::get_if<T>(&it->second);
  SHOAL_CHECK(value != nullptr, "an option is read as the type it was declared with");
  return *value;
}

bool Options::get_bool(std::string_view name) const { return get<bool>(name); }
std::int64_t Options::get_int(std::string_view name) const { return get<std::int64_t>(name); }
double Options::get_float(std::string_view name) const { return get<double>(name); }
const std::string& Options::get_string(std::string_view name) const {
  return get<std::string>(name);
}
Duration Options::get_duration(std::string_view name) const { return get<Duration>(name); }
const std::vector<std::int64_t>& Options::get_ints(std::string_view name) const {
  return get<std::vector<std::int64_t>>(name);
}
const std::vector<std::string>& Options::get_strings(std::string_view name) const {
  return get<std::vector<std::string>>(name);
}

Options Options::defaults(const std::vector<OptionSpec>& specs) {
  Options options;
  for (const auto& spec : specs) {
    options.set(spec.name, spec.default_value);
  }
  return options;
}

Status check_option(const OptionSpec& spec, const OptionValue& value) {
  if (value.index() != spec.default_value.index()) {
    return wrong_type(spec, option_text(value));
  }
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    return check_bounds(spec, static_cast<double>(*i));
  }
  if (const auto* f = std::get_if<double>(&value)) {
    return check_bounds(spec, *f);
  }
  if (const auto* d = std::get_if<Duration>(&value)) {
    return check_bounds(spec, seconds(*d));
  }
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const auto i : *list) {
      SHOAL_TRY(check_bounds(spec, static_cast<double>(i)));
    }
  }
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && !spec.choices.empty() &&
      std::find(spec.choices.begin(), spec.choices.end(), *text) == spec.choices.end()) {
    std::string all;
    for (const auto& choice : spec.choices) {
      all += (all.empty() ? "" : ", ") + choice;
    }
    const auto close = nearest(*text, spec.choices);
    return config_error(spec.name + " has no choice \"" + *text + "\"" +
                        (close.empty() ? "" : "; did you mean \"" + close + "\"?") +
                        " (choices: " + all + ")");
  }
  return {};
}

Result<Duration> parse_duration(std::string_view text) {
  static constexpr struct {
    std::string_view suffix;
    double seconds;
  } kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  for (const auto& unit : kUnits) {
    double number = 0;
    if (text.ends_with(unit.suffix) &&
        parse_number(text.substr(0, text.size() - unit.suffix.size()), number) && number >= 0 &&
        number * unit.seconds < 1e9) {
      // Rounded, since a product that falls short would lose a nanosecond each time it is printed
      // and read again.
      return Duration(std::llround(number * unit.seconds * 1e9));
    }
  }
  return config_error("\"" + std::string(text) +
                      "\" is no duration; write a number and a unit: 250ms, 2s, 5m, 1h");
}

Result<OptionValue> parse_option(const OptionSpec& spec, std::string_view text) {
  const auto bad = [&] { return wrong_type(spec, "\"" + std::string(text) + "\""); };
  OptionValue value;
  switch (spec.type) {
    case OptionType::kBool:
      if (text != "true" && text != "false") {
        return bad();
      }
      value = text == "true";
      break;
    case OptionType::kInt: {
      std::int64_t i = 0;
      if (!parse_number(text, i)) {
        return bad();
      }
      value = i;
      break;
    }
    case OptionType::kFloat: {
      double f = 0;
      if (!parse_number(text, f)) {
        return bad();
      }
      value = f;
      break;
    }
    case OptionType::kString:
      value = std::string(text);
      break;
    case OptionType::kDuration: {
      auto d = parse_duration(text);
      if (!d.ok()) {
        return config_error(spec.name + ": " + d.error().message);
      }
      value = *d;
      break;
    }
    case OptionType::kIntList: {
      std::vector<std::int64_t> list;
      const auto items = split_list(text);
      if (!items) {
        return bad();
      }
      for (const auto& item : *items) {
        std::int64_t i = 0;
        if (!parse_number(item, i)) {
          return bad();
        }
        list.push_back(i);
      }
      value = std::move(list);
      break;
    }
    case OptionType::kStringList: {
      auto items = split_list(text);
      if (!items) {
        return bad();
      }
      value = std::move(*items);
      break;
    }
  }
  SHOAL_TRY(check_option(spec, value));
  return value;
}

std::string option_text(const OptionValue& value) {
  struct Visitor {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double f) const { return float_text(f); }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(Duration d) const { return float_text(seconds(d)) + "s"; }
    std::string operator()(const std::vector<std::int64_t>& list) const {
      std::string out = "[";
      for (const auto i : list) {
        out += (out.size() > 1 ? ", " : "") + std::to_string(i);
      }
      return out + "]";
    }
    std::string operator()(const std::vector<std::string>& list) const {
      std::string out = "[";
      for (const auto& s : list) {
        out += (out.size() > 1 ? ", " : "") + quoted_text(s);
      }
      return out + "]";
    }
  };
  return std::visit(Visitor{}, value);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2) + 1;
  for (const auto& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t substitute = diagonal + (word[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substitute, row[j + 1] + 1, row[j] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace shoal
