#include "node/run/saved_model.h"

#include "node/files.h"
#include "node/peer_parts.h"

namespace shoal::node {

namespace fs = std::filesystem;

Result<SavedModel> open_model(const Cli& cli, const std::string& model,
                              const std::optional<std::string>& config) {
  std::error_code error;
  const fs::path given = model;
  const fs::path path = fs::is_directory(given, error) ? given / "model.safetensors" : given;
  if (!fs::exists(path, error)) {
    return data_error("there is no " + path.string() +
                      "; a run writes it at its end, into its folder");
  }
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
