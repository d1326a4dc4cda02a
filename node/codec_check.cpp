#include "node/codec_check.h"

#include <algorithm>

namespace shoal::node {
namespace {

bool equal(const Options& a, const Options& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
}

/// As the configuration would say it: name, and options in braces.
std::string text_of(const Config& config, const char* kind) {
  std::string text;
  const Options options = config.plugin_options(kind);
  for (const auto& [key, value] : options.values()) {
    text += (text.empty() ? "" : ", ") + key + " = " + option_text(value);
  }
  return config.chosen(kind) + (text.empty() ? "" : " (" + text + ")");
}

}  // namespace

Status check_codecs(const Config& config, const compress::Codec& sent,
                    const compress::Codec& answered) {
  const auto shared = [](const compress::Codec& codec) {
    return codec.properties().state == compress::StateKind::kReplicated;
  };
  const bool same = config.chosen("codec") == config.chosen("answer") &&
                    equal(config.plugin_options("codec"), config.plugin_options("answer"));
  if (same || !(shared(sent) || shared(answered))) {
    return {};
  }
  return config_error("compress.codec is " + text_of(config, "codec") + ", compress.answer is " +
                      text_of(config, "answer") + ": " +
                      config.chosen(shared(answered) ? "answer" : "codec") +
                      " has a state that all peers share; give both the same codec and options");
}

}  // namespace shoal::node
