#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "node/cli/cli.h"
#include "node/config.h"
#include "node/data/dataset.h"
#include "node/shared_state.h"
#include "ops/architecture.h"
#include "ops/base/result.h"

namespace shoal::node {

/// A model that a run left, with what it was trained on.
struct SavedModel {
  std::filesystem::path path;  ///< of the file
  Config config;
  std::shared_ptr<Dataset> dataset;  ///< headers and labels read, features not
  std::shared_ptr<const ops::Architecture> architecture;
  ModelValues values;
};

/// `model` is a run folder or a model.safetensors; its configuration is `config`, or the
/// config.toml beside it. Errors: kConfig when there is neither; kData for what a file holds.
Result<SavedModel> open_model(const Cli& cli, const std::string& model,
                              const std::optional<std::string>& config);

}  // namespace shoal::node
