#include <algorithm>

#include "compress/codec.h"

// One line a codec, in order of wire id; <name>_entry() lies in codecs/<name>.cpp. Wire id 0 means
// no codec; an id is never used again.
#define SHOAL_CODECS(ENTRY) \
  ENTRY(fp32)               \
  ENTRY(bf16)               \
  ENTRY(int8)               \
  ENTRY(topk)               \
  ENTRY(fp16)               \
  ENTRY(int4)               \
  ENTRY(e3m0)               \
  ENTRY(qsgd)               \
  ENTRY(ternary)            \
  ENTRY(sign)               \
  ENTRY(codebook)           \
  ENTRY(randomk)            \
  ENTRY(dgc)                \
  ENTRY(powersgd)           \
  ENTRY(demo)               \
  ENTRY(cocktail)           \
  ENTRY(chain)

namespace shoal::compress {

#define SHOAL_DECLARE(name) CodecEntry name##_entry();
SHOAL_CODECS(SHOAL_DECLARE)
#undef SHOAL_DECLARE

const std::vector<CodecEntry>& registry() {
#define SHOAL_CALL(name) name##_entry(),
  static const std::vector<CodecEntry> entries{SHOAL_CODECS(SHOAL_CALL)};
#undef SHOAL_CALL
  return entries;
}

Result<std::unique_ptr<Codec>> make_codec(std::string_view name, const Options& options) {
  std::vector<std::string> names;
  for (const CodecEntry& entry : registry()) {
    names.push_back(entry.name);
    if (entry.name != name) {
      continue;
    }
    Options full = Options::defaults(entry.options);
    for (const auto& [key, value] : options.values()) {
      const auto spec = std::find_if(entry.options.begin(), entry.options.end(),
                                     [&key = key](const OptionSpec& s) { return s.name == key; });
      if (spec == entry.options.end()) {
        return config_error("codec " + entry.name + " has no option \"" + key + "\"");
      }
      SHOAL_TRY(check_option(*spec, value));
      full.set(key, value);
    }
    if (entry.check != nullptr) {
      SHOAL_TRY(entry.check(full));
    }
    return entry.make(full);
  }
  const std::string close = nearest(name, names);
  return config_error("there is no codec \"" + std::string(name) + "\"" +
                      (close.empty() ? "" : "; did you mean \"" + close + "\"?"));
}

std::string codec_name(std::uint8_t wire_id) {
  const auto& all = registry();
  const auto it = std::find_if(all.begin(), all.end(), [&](const CodecEntry& entry) {
    return entry.make(Options::defaults(entry.options))->properties().wire_id == wire_id;
  });
  return it == all.end() ? std::string() : it->name;
}

const Codec* codec_by_wire_id(std::uint8_t wire_id) {
  static const std::vector<std::unique_ptr<Codec>> codecs = [] {
    std::vector<std::unique_ptr<Codec>> all;
    for (const CodecEntry& entry : registry()) {
      all.push_back(entry.make(Options::defaults(entry.options)));
    }
    return all;
  }();
  const auto it = std::find_if(codecs.begin(), codecs.end(), [&](const auto& codec) {
    return codec->properties().wire_id == wire_id;
  });
  return it == codecs.end() ? nullptr : it->get();
}

}  // namespace shoal::compress
