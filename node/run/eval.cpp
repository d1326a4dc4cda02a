#include <cstdio>

#include "node/cli/arguments.h"
#include "node/json.h"
#include "node/run/saved_model.h"
#include "node/trainer.h"

namespace shoal::node {
namespace {

struct Judged {
  std::string model;
  ops::BatchResult result;
};

Result<Judged> judge(const Cli& cli, const EvalArguments& arguments) {
  SHOAL_ASSIGN(const SavedModel model, open_model(cli, arguments.model, arguments.config));
  SHOAL_TRY(model.dataset->hold_all(Split::kTest));
  SHOAL_ASSIGN(ops::ChosenBackend chosen,
               ops::choose_backend(model.config.get_string("device.name"), 1,
                                   {0, model.config.get_bool("device.tf32")}));
  std::shared_ptr<ops::Backend> backend = std::move(chosen.backend);
  SHOAL_ASSIGN(std::unique_ptr<ops::Model> net, ops::Model::make(model.architecture, *backend, 0));
  Trainer trainer(backend, std::move(net), model.dataset, nullptr);
  trainer.load(0, model.values.parameters, model.values.buffers);
  SHOAL_ASSIGN(const ops::BatchResult result, trainer.evaluate());
  return Judged{model.path.string(), result};
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
