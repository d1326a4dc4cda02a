#include "node/run/saved_model.h"

#include "node/files.h"
#include "node/peer_parts.h"

namespace shoal::node {

namespace fs = std::filesystem;

namespace {

/// The file that a person means by a file, a run folder, or the name of a run.
Result<fs::path> model_file(const Cli& cli, const std::string& model) {
  std::error_code error;
  fs::path given = model;
  if (!fs::exists(given, error)) {
    SHOAL_ASSIGN(const Config config, cli.load(std::nullopt));
    const std::string& runs = config.get_string("run_dir");
    given = fs::path(runs) / model;
    if (!fs::is_directory(given, error)) {
      return data_error("\"" + model +
                        "\" is no model: neither a file, nor a run folder, nor a "
                        "run under " +
                        runs);
    }
  }
  if (!fs::is_directory(given, error)) {
    return given;
  }
  given /= "model.safetensors";
  if (!fs::exists(given, error)) {
    return data_error("there is no " + given.string() + "; a run writes it at its end");
  }
  return given;
}

}  // namespace

Result<SavedModel> open_model(const Cli& cli, const std::string& model,
                              const std::optional<std::string>& config) {
  std::error_code error;
  SHOAL_ASSIGN(const fs::path path, model_file(cli, model));
  const std::string beside = (path.parent_path() / "config.toml").string();
  if (!config.has_value() && !fs::exists(beside, error)) {
    return config_error("no config.toml lies beside " + path.string() +
                        "; name the run's configuration with --config");
  }
  SHOAL_ASSIGN(Config loaded, cli.load(config.value_or(beside)));
  SHOAL_ASSIGN(const Bytes bytes, read_file(path));
  SHOAL_ASSIGN(std::shared_ptr<Dataset> dataset, open_configured_dataset(loaded));
  SHOAL_ASSIGN(auto architecture, configured_architecture(loaded, *dataset));
  auto values = load_model(*architecture, bytes.span());
  if (!values.ok()) {
    return data_error(path.string() + ": " + values.error().message);
  }
  return SavedModel{path, std::move(loaded), std::move(dataset), std::move(architecture),
                    std::move(values).value()};
}

}  // namespace shoal::node
