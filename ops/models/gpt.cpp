#include "ops/models/gpt.h"

#include <utility>

namespace shoal::ops {
namespace {

constexpr double kDeviation = 0.02;  // of embeddings, as in the source

/// Adds a layer of dropout under the names of PyTorch's, or none.
void add_dropout(std::vector<LayerSpec>& layers, const char* name, double p) {
  if (p > 0) {
    layers.push_back({"dropout", name, {{"p", p}}});
  }
}

void add_block(std::vector<LayerSpec>& layers, const std::string& name, const Options& options) {
  const double p = options.get_float("dropout");
  const std::int64_t width = options.get_int("width");
  LayerSpec attend{"residual", name, {}};
  attend.inner = {{"layer_norm", "norm1", {}},
                  {"attention", "self_attn", {{"heads", options.get_int("heads")}}}};
  add_dropout(attend.inner, "dropout1", p);
  LayerSpec think{"residual", name, {}};
  think.inner = {{"layer_norm", "norm2", {}},
                 {"linear", "linear1", {{"out", 4 * width}, {"activation", std::string("gelu")}}}};
  add_dropout(think.inner, "dropout", p);
  think.inner.push_back({"linear", "linear2", {{"out", width}}});
  add_dropout(think.inner, "dropout2", p);
  layers.push_back(std::move(attend));
  layers.push_back(std::move(think));
}

Result<ModelSpec> make_gpt(const Options& options, const Port& input, std::int64_t classes) {
  if (!input.index || input.shape.rank() != 1) {
    return config_error("gpt needs texts of one length, but a sample is " +
                        std::string(input.index ? "" : "numbers ") + input.shape.text());
  }
  const std::int64_t vocabulary =
      options.get_int("vocabulary") == 0 ? classes : options.get_int("vocabulary");
  if (vocabulary < classes) {
    return config_error("vocabulary is " + std::to_string(vocabulary) + ", but the data has " +
                        std::to_string(classes) + " tokens; raise it, or set 0");
  }
  const std::int64_t width = options.get_int("width");
  ModelSpec spec;
  spec.input = input;
  spec.layers = {
      {"embedding",
       "wte",
       {{"vocabulary", vocabulary}, {"width", width}, {"deviation", kDeviation}}},
      {"positions", "wpe", {{"context", options.get_int("context")}, {"deviation", kDeviation}}}};
  add_dropout(spec.layers, "dropout", options.get_float("dropout"));
  for (std::int64_t i = 0; i < options.get_int("depth"); ++i) {
    add_block(spec.layers, "layers." + std::to_string(i), options);
  }
  spec.layers.push_back({"layer_norm", "norm", {}});
  LayerSpec head{"linear", "head", {{"out", vocabulary}, {"bias", false}}};
  if (options.get_bool("tied")) {
    head.ties = {{"weight", "wte.weight"}};
  }
  spec.layers.push_back(std::move(head));
  return spec;
}

OptionSpec size_option(const char* name, std::int64_t value, const char* help, double minimum,
                       double maximum) {
  return {name, OptionType::kInt, value, help, minimum, maximum, {}, Scope::kRun};
}

}  // namespace

ModelEntry gpt_entry() {
  return {"gpt",
          "the next token by a transformer",
          {size_option("depth", 4, "blocks", 1, 1000),
           size_option("width", 128, "numbers for each token", 1, 1e6),
           size_option("heads", 4, "heads of attention, which share the width", 1, 1024),
           size_option("context", 0, "places known; 0: as long as the texts", 0, 1e7),
           size_option("vocabulary", 0, "tokens known; 0: as many as the data has", 0, 1e8),
           {"tied",
            OptionType::kBool,
            true,
            "whether the scores use the weight of the embedding",
            {},
            {},
            {},
            Scope::kRun},
           {"dropout",
            OptionType::kFloat,
            0.0,
            "probability that a number becomes 0",
            0.0,
            0.99,
            {},
            Scope::kRun}},
          &make_gpt};
}

}  // namespace shoal::ops
