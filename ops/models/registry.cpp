#include "ops/architecture.h"
#include "ops/find_entry.h"
#include "ops/models/char_lstm.h"
#include "ops/models/cnn.h"
#include "ops/models/layers.h"
#include "ops/models/lenet5.h"
#include "ops/models/logistic.h"
#include "ops/models/mlp.h"
#include "ops/models/resnet.h"
#include "ops/models/two_nn.h"

namespace shoal::ops {

const std::vector<ModelEntry>& model_registry() {
  static const std::vector<ModelEntry> entries = {
      // clang-format off
      layers_entry(),
      mlp_entry(),
      logistic_entry(),
      two_nn_entry(),
      cnn_entry(),
      lenet5_entry(),
      char_lstm_entry(),
      resnet8_entry(),
      resnet18_entry(),
      // clang-format on
  };
  return entries;
}

Result<const ModelEntry*> find_model(std::string_view name) {
  return find_entry(model_registry(), &ModelEntry::name, "model", name);
}

Result<std::shared_ptr<const Architecture>> make_architecture(std::string_view name,
                                                              const Options& options,
                                                              const Port& input,
                                                              std::int64_t classes) {
  SHOAL_ASSIGN(const ModelEntry* entry, find_model(name));
  SHOAL_ASSIGN(const ModelSpec spec, entry->make(options, input, classes));
  return Architecture::make(spec);
}

}  // namespace shoal::ops
