#include "node/codec_config.h"

#include <algorithm>
#include <sstream>

namespace shoal::node {
namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kCandidates = "candidates";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

/// What changes from link to link and round to round must leave nothing behind but the carry.
Status check_candidate(const std::string& name, const compress::Properties& p) {
  const bool free = p.state == compress::StateKind::kNone && !p.whole_tensor && p.momentum == 0 &&
                    p.carry_decay == 1;
  return free ? Status{}
              : config_error("compress.candidates: " + name +
                             " keeps state of its own from round to round, so \"auto\" can't "
                             "choose it; set compress.codec = \"" +
                             name + "\" instead");
}

Result<comm::CodecOffer> offer(const std::string& name, const Clock* clock) {
  SHOAL_ASSIGN(std::shared_ptr<const compress::Codec> codec, compress::make_codec(name, {}));
  SHOAL_TRY(check_candidate(name, codec->properties()));
  compress::CodecCost cost = compress::nominal_cost(*codec);
  if (clock != nullptr) {
    SHOAL_ASSIGN(cost, compress::measured_cost(*codec, *clock));
  }
  return comm::CodecOffer{name, std::move(codec), cost};
}

}  // namespace

PluginSpec auto_codec() {
  OptionSpec candidates{.name = kCandidates,
                        .type = OptionType::kString,
                        .default_value = std::string("fp32 bf16 int8"),
                        .help = "codecs to choose from, the most exact first",
                        .minimum = {},
                        .maximum = {},
                        .choices = {},
                        .scope = Scope::kPeer};
  return {kAuto,
          "for each link the codec that ends soonest, by measured speeds and rates",
          {std::move(candidates)}};
}

Result<comm::CodecChoice> configured_codec(const Config& config, const char* kind,
                                           const Clock* clock) {
  const std::string& name = config.chosen(kind);
  const Options options = config.plugin_options(kind);
  if (name != kAuto) {
    SHOAL_ASSIGN(std::shared_ptr<const compress::Codec> codec, compress::make_codec(name, options));
    return comm::CodecChoice(std::move(codec));
  }
  if (config.get_bool("run.reproducible")) {
    return config_error(
        "run.reproducible = true needs a fixed codec, and \"auto\" goes by measured speeds; set "
        "compress.codec to one of its candidates");
  }
  std::vector<comm::CodecOffer> offers;
  for (const std::string& word : words_of(options.get_string(kCandidates))) {
    SHOAL_ASSIGN(comm::CodecOffer one, offer(word, clock));
    offers.push_back(std::move(one));
  }
  if (offers.empty()) {
    return config_error("compress.candidates names no codec; \"fp32 int8\" is a list of two");
  }
  return comm::CodecChoice(std::move(offers));
}

Result<std::shared_ptr<const compress::Codec>> planned_codec(const Config& config,
                                                             const char* kind) {
  SHOAL_ASSIGN(const comm::CodecChoice choice, configured_codec(config, kind));
  return choice.first();
}

}  // namespace shoal::node
