#include <cstdio>
#include <filesystem>

#include "node/cli/arguments.h"
#include "node/files.h"
#include "node/json.h"
#include "node/peer_parts.h"

namespace shoal::node {
namespace {

namespace fs = std::filesystem;

struct Judged {
  std::string model;
  ops::BatchResult result;
};

Result<Judged> judge(const Cli& cli, const EvalArguments& arguments) {
  std::error_code error;
  const fs::path given = arguments.model;
  const fs::path model = fs::is_directory(given, error) ? given / "model.safetensors" : given;
  if (!fs::exists(model, error)) {
    return data_error("there is no " + model.string() +
                      "; a run writes it at its end, into its folder");
  }
  const std::string beside = (model.parent_path() / "config.toml").string();
  if (!arguments.config.has_value() && !fs::exists(beside, error)) {
    return config_error("no config.toml lies beside " + model.string() +
                        "; name the run's configuration with --config");
  }
  SHOAL_ASSIGN(const Config config, cli.load(arguments.config.value_or(beside)));
  SHOAL_ASSIGN(const Bytes bytes, read_file(model));
  SHOAL_ASSIGN(std::shared_ptr<Dataset> dataset, open_configured_dataset(config));
  SHOAL_ASSIGN(auto architecture, configured_architecture(config, *dataset));
  auto values = load_model(*architecture, bytes.span());
  if (!values.ok()) {
    return data_error(model.string() + ": " + values.error().message);
  }
  SHOAL_TRY(dataset->hold_all(Split::kTest));
  SHOAL_ASSIGN(ops::ChosenBackend chosen, ops::choose_backend(config.get_string("device.name")));
  std::shared_ptr<ops::Backend> backend = std::move(chosen.backend);
  SHOAL_ASSIGN(std::unique_ptr<ops::Model> net, ops::Model::make(architecture, *backend, 0));
  Trainer trainer(backend, std::move(net), dataset, nullptr);
  trainer.load(0, values->parameters, values->buffers);
  SHOAL_ASSIGN(const ops::BatchResult result, trainer.evaluate());
  return Judged{model.string(), result};
}

}  // namespace

int run_eval(const Cli& cli, const EvalArguments& arguments) {
  const auto judged = judge(cli, arguments);
  if (!judged.ok()) {
    return cli.fail(judged.error());
  }
  const ops::BatchResult& r = judged->result;
  if (cli.json) {
    const nlohmann::ordered_json out = {{"model", judged->model},
                                        {"samples", r.samples},
                                        {"test_loss", json_number(r.mean_loss())},
                                        {"test_accuracy", json_number(r.accuracy())}};
    std::puts(out.dump().c_str());
    return 0;
  }
  char text[96];
  std::snprintf(text, sizeof text, ": test accuracy %.4f, test loss %.4f on %llu samples",
                r.accuracy(), r.mean_loss(), static_cast<unsigned long long>(r.samples));
  cli.log().info(judged->model + text);
  return 0;
}

}  // namespace shoal::node
