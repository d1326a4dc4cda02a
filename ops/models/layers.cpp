#include "ops/models/layers.h"

#include <algorithm>

#include "ops/find_entry.h"
#include "ops/loss.h"

namespace shoal::ops {
namespace {

/// Layers within layers; no model needs more, and a parser that calls itself needs a bound.
constexpr std::size_t kDepthMax = 8;

/// Splits at `separators` that stand in no braces; empty parts between blanks are left out.
/// Errors: kConfig for braces that do not close.
Result<std::vector<std::string>> split(std::string_view text, std::string_view separators,
                                       bool keep_empty) {
  std::vector<std::string> parts(1);
  std::size_t depth = 0;
  for (const char c : text) {
    if (depth == 0 && separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
      continue;
    }
    depth += c == '{' ? 1 : 0;
    if (c == '}' && depth-- == 0) {
      return config_error("a } closes nothing");
    }
    parts.back() += c;
  }
  if (depth != 0) {
    return config_error("a { is not closed");
  }
  if (!keep_empty) {
    parts.erase(std::remove(parts.begin(), parts.end(), std::string()), parts.end());
  }
  return parts;
}

Result<LayerSpec> parse_at(std::string_view text, std::size_t depth);

/// "{conv2d 16 3; relu}". Errors: kConfig, with the position within.
Result<std::vector<LayerSpec>> read_inner(std::string_view braced, std::size_t depth) {
  if (depth >= kDepthMax) {
    return config_error("layers lie within layers more than " + std::to_string(kDepthMax) +
                        " deep");
  }
  SHOAL_ASSIGN(const auto texts, split(braced.substr(1, braced.size() - 2), ";", true));
  std::vector<LayerSpec> layers;
  for (const auto& text : texts) {
    auto layer = parse_at(text, depth + 1);
    if (!layer.ok()) {
      return config_error("inner layer " + std::to_string(layers.size() + 1) + " (\"" + text +
                          "\"): " + layer.error().message);
    }
    layers.push_back(std::move(layer).value());
  }
  return layers;
}

/// Reads one word after the type into `spec`. `position` counts values without a name.
Status read_word(const LayerEntry& entry, const std::string& word, std::size_t& position,
                 LayerSpec& spec) {
  const auto equals = word.find('=');
  std::string value = word;
  const OptionSpec* option = nullptr;
  if (equals == std::string::npos) {
    if (position >= entry.options.size()) {
      return config_error("\"" + word + "\" is one value too many; " + entry.type + " has " +
                          std::to_string(entry.options.size()) + " options");
    }
    option = &entry.options[position++];
  } else {
    const std::string name = word.substr(0, equals);
    value = word.substr(equals + 1);
    position = entry.options.size();  // no value without a name follows one with a name
    if (name == "name") {
      // A dot separates a layer from its tensors.
      if (value.empty() || value.find('.') != std::string::npos) {
        return config_error("a layer's name is a word without dots, not \"" + value + "\"");
      }
      spec.name = value;
      return {};
    }
    SHOAL_ASSIGN(option, find_entry(entry.options, &OptionSpec::name, "option", name));
  }
  const bool said = std::any_of(spec.options.begin(), spec.options.end(),
                                [&](const auto& o) { return o.first == option->name; });
  if (said) {
    return config_error(option->name + " is said twice");
  }
  SHOAL_ASSIGN(OptionValue parsed, parse_option(*option, value));
  spec.options.emplace_back(option->name, std::move(parsed));
  return {};
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto& loss : loss_registry()) {
    names.push_back(loss.name);
  }
  return names;
}

Result<ModelSpec> make_layers(const Options& options, const Port& input, std::int64_t classes) {
  ModelSpec spec;
  spec.input = input;
  spec.loss = options.get_string("loss");
  for (const auto& text : options.get_strings("layers")) {
    auto layer = parse_layer(text);
    if (!layer.ok()) {
      return config_error("layer " + std::to_string(spec.layers.size() + 1) + " (\"" + text +
                          "\"): " + layer.error().message);
    }
    spec.layers.push_back(std::move(layer).value());
  }
  SHOAL_ASSIGN(const auto architecture, Architecture::make(spec));
  const Shape& output = architecture->output().shape;
  const bool scores = spec.loss == "softmax-cross-entropy";
  if (scores && output.cols() != static_cast<std::size_t>(classes)) {
    return config_error("the last layer gives " + output.text() + ", but the data has " +
                        std::to_string(classes) + " classes; end with \"linear " +
                        std::to_string(classes) + "\"");
  }
  return spec;
}

}  // namespace

namespace {

Result<LayerSpec> parse_at(std::string_view text, std::size_t depth) {
  SHOAL_ASSIGN(const auto words, split(text, " \t", false));
  if (words.empty()) {
    return config_error("a layer begins with its type, such as \"linear 10\"");
  }
  SHOAL_ASSIGN(const LayerEntry* entry, find_layer(words.front()));
  LayerSpec spec;
  spec.type = entry->type;
  std::size_t position = 0;
  std::size_t groups = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].front() != '{') {
      SHOAL_TRY(read_word(*entry, words[i], position, spec));
      continue;
    }
    if (words[i].back() != '}' || groups == 2) {
      return config_error("inner layers are {a; b}, and a second such group is the shortcut");
    }
    SHOAL_ASSIGN(auto inner, read_inner(words[i], depth));
    (groups++ == 0 ? spec.inner : spec.shortcut) = std::move(inner);
  }
  return spec;
}

}  // namespace

Result<LayerSpec> parse_layer(std::string_view text) { return parse_at(text, 0); }

ModelEntry layers_entry() {
  return {"layers",
          "a list of layers, one string each: \"conv2d 32 5 padding=2 activation=relu\"",
          {{"layers",
            OptionType::kStringList,
            std::vector<std::string>{"flatten", "linear 10"},
            "type, values of its options in their order, then option=value",
            {},
            {},
            {},
            Scope::kRun},
           {"loss",
            OptionType::kString,
            std::string("softmax-cross-entropy"),
            "what is made small",
            {},
            {},
            loss_names(),
            Scope::kRun}},
          &make_layers};
}

}  // namespace shoal::ops
