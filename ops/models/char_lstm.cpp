#include "ops/models/char_lstm.h"

namespace shoal::ops {
namespace {

Result<ModelSpec> make_char_lstm(const Options& options, const Port& input, std::int64_t classes) {
  if (!input.index || input.shape.rank() != 1) {
    return config_error("char_lstm needs texts of one length, but a sample is " +
                        std::string(input.index ? "" : "numbers ") + input.shape.text());
  }
  ModelSpec spec;
  spec.input = input;
  spec.layers = {{"embedding",
                  "embedding",
                  {{"vocabulary", classes}, {"width", options.get_int("embedding")}}},
                 {"lstm",
                  "lstm",
                  {{"hidden", options.get_int("hidden")}, {"layers", options.get_int("layers")}}},
                 {"linear", "fc", {{"out", classes}}}};
  return spec;
}

}  // namespace

ModelEntry char_lstm_entry() {
  return {"char_lstm",
          "the next character by an LSTM",
          {{"embedding",
            OptionType::kInt,
            std::int64_t{8},
            "numbers for each character",
            1.0,
            1e5,
            {},
            Scope::kRun},
           {"hidden",
            OptionType::kInt,
            std::int64_t{256},
            "numbers of a state",
            1.0,
            1e5,
            {},
            Scope::kRun},
           {"layers",
            OptionType::kInt,
            std::int64_t{2},
            "layers of the LSTM",
            1.0,
            64.0,
            {},
            Scope::kRun}},
          &make_char_lstm};
}

}  // namespace shoal::ops
