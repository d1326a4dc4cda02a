#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/options.h"
#include "ops/base/result.h"
#include "ops/flat.h"
#include "ops/layer.h"
#include "ops/loss.h"
#include "ops/parameters.h"

namespace shoal::ops {

/// A whole model as written down.
struct ModelSpec {
  Port input;  ///< of one sample
  std::vector<LayerSpec> layers;
  std::string loss = "softmax-cross-entropy";
  std::vector<std::pair<std::string, OptionValue>> loss_options = {};
};

/// A model that was found to fit together, before anything is allocated: layers, shapes, and the
/// global coordinates of its parameters. Immutable and shared by all that speak of the model.
class Architecture {
 public:
  struct Node {
    std::string name;
    std::string type;
    std::unique_ptr<Layer> layer;
    Port input;
    LayerPlan plan;
    std::size_t first_param = 0;   ///< index into map().params()
    std::size_t first_buffer = 0;  ///< index into map().buffers()
  };

  Architecture() = default;  ///< empty; use make()
  /// Errors: kConfig, naming the layer whose type, option or shape does not fit.
  static Result<std::shared_ptr<const Architecture>> make(const ModelSpec& spec);

  [[nodiscard]] const Port& input() const { return input_; }
  [[nodiscard]] const Port& output() const { return nodes_.back().plan.output; }
  [[nodiscard]] const std::string& loss() const { return loss_; }
  /// A loss as the spec says. Errors: kConfig (never after make()).
  [[nodiscard]] Result<std::unique_ptr<Loss>> make_loss() const;
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const ParamMap& map() const { return map_; }
  /// How map().params()[index] starts.
  [[nodiscard]] const Init& init(std::size_t index) const { return inits_[index]; }

  /// Coordinates of the parameters of layers [begin, end), padding of large tensors included.
  [[nodiscard]] Ranges layer_ranges(std::size_t begin, std::size_t end) const;
  /// What arrays over layers [begin, end) hold; all of it without arguments. Knows its tensors.
  [[nodiscard]] FlatSpace space(std::size_t begin, std::size_t end) const;
  [[nodiscard]] FlatSpace space() const { return space(0, nodes_.size()); }

  /// The whole flat array as `seed` gives it, padding 0. The same to the bit on every machine.
  [[nodiscard]] std::vector<float> initial_parameters(std::uint64_t seed) const;
  /// Start values of the second array.
  [[nodiscard]] std::vector<float> initial_buffers() const;

 private:
  Status add_layer(const LayerSpec& spec, const Port& input);

  Port input_;
  std::string loss_;
  std::vector<std::pair<std::string, OptionValue>> loss_options_;
  std::vector<Node> nodes_;
  std::vector<Init> inits_;
  std::vector<float> buffer_values_;  // per buffer
  ParamMap map_;
};

/// Neighbouring layers [begin, end) of a model that remember nothing of a pass but what went in:
/// their memory is one for all passes and segments, and backward calls their forward again, with
/// the same Ctx.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// One line of the registry of models, what `[model] name = "..."` chooses from.
struct ModelEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  /// Errors: kConfig when the options do not fit the data (`input` of a sample, `classes`).
  Result<ModelSpec> (*make)(const Options& options, const Port& input, std::int64_t classes);
};

const std::vector<ModelEntry>& model_registry();

/// Errors: kConfig with the nearest name.
Result<const ModelEntry*> find_model(std::string_view name);
/// Registry entry to architecture in one step. Errors: kConfig.
Result<std::shared_ptr<const Architecture>> make_architecture(std::string_view name,
                                                              const Options& options,
                                                              const Port& input,
                                                              std::int64_t classes);

}  // namespace shoal::ops
