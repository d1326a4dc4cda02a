// One training of a small net, written down for steps.py to repeat in PyTorch: initial weights,
// batches, gradients of the first step, the loss of every step, the weights at the end.
#include <string>

#include "ops/fp_env.h"
#include "ops/model.h"
#include "ops/models/layers.h"
#include "ops/optim/optimizer.h"
#include "tests/parity/written.h"

namespace shoal::parity {
namespace {

constexpr std::size_t kBatches = 4;  // met again and again, so that something is learnt

struct Net {
  std::string name;
  ops::Port input;
  std::int64_t classes;  // or tokens
  std::size_t batch;
  std::vector<std::string> layers;
};

std::vector<Net> nets() {
  const ops::Port image{{1, 12, 12}, false};
  const ops::Port text{{16}, true};
  return {
      {"mlp",
       {{64}, false},
       10,
       32,
       {"linear 48 activation=relu", "linear 32 activation=relu", "linear 10"}},
      {"cnn",
       image,
       10,
       16,
       {"conv2d 6 5 padding=2 activation=relu max_pool=2", "conv2d 8 3 activation=relu", "flatten",
        "linear 32 activation=relu", "linear 10"}},
      {"batch_norm",
       image,
       10,
       16,
       {"conv2d 8 3 padding=1 bias=false", "batch_norm", "relu", "max_pool 2",
        "residual relu {conv2d 8 3 padding=1 bias=false; batch_norm; relu; "
        "conv2d 8 3 padding=1 bias=false; batch_norm}",
        "global_avg_pool", "linear 10"}},
      {"group_norm",
       image,
       10,
       16,
       {"conv2d 8 3 padding=1 bias=false", "group_norm 4", "relu",
        "residual relu {conv2d 16 3 stride=2 padding=1 bias=false; group_norm 4; relu; "
        "conv2d 16 3 padding=1 bias=false; group_norm 4} "
        "{conv2d 16 1 stride=2 bias=false; group_norm 4}",
        "global_avg_pool", "linear 10"}},
      {"lstm", text, 24, 8, {"embedding 24 8", "lstm 32 2", "linear 24"}},
      {"gru", text, 24, 8, {"embedding 24 8", "gru 32 2", "linear 24"}},
  };
}

struct Question {
  std::string net;
  std::string backend;
  std::string optimizer;
  double lr = 0;
  std::uint64_t steps = 0;
  std::string file;
  std::vector<std::string> options;
};

Options optimizer_options(const ops::OptimizerEntry& entry, const std::vector<std::string>& said) {
  Options options = Options::defaults(entry.options);
  for (const auto& text : said) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    for (const auto& spec : entry.options) {
      if (spec.name == name) {
        options.set(name, need(parse_option(spec, text.substr(equals + 1))));
      }
    }
  }
  return options;
}

void train(const Net& net, const Question& question) {
  ops::ModelSpec spec;
  spec.input = net.input;
  for (const auto& layer : net.layers) {
    spec.layers.push_back(need(ops::parse_layer(layer)));
  }
  const auto architecture = need(ops::Architecture::make(spec));
  const auto backend = need(ops::choose_backend(question.backend)).backend;
  const auto model = need(ops::Model::make(architecture, *backend, 1));
  const auto* entry = need(ops::find_optimizer(question.optimizer));
  const auto optimizer =
      need(ops::make_optimizer(question.optimizer, optimizer_options(*entry, question.options),
                               *backend, architecture->space()));
  const ParamMap& map = architecture->map();
  const std::size_t rows = net.batch * architecture->output().shape.rows();
  Rng rng(1, 1);
  Written file;
  file.note("model", describe(spec, *architecture));
  std::vector<float> values(static_cast<std::size_t>(map.flat_size()));
  model->parameters().read_all(values);
  file.add_all("param:", map, values);
  file.add_buffers("param:", map, architecture->initial_buffers());
  std::vector<std::vector<float>> x;
  std::vector<std::vector<std::int32_t>> y;
  for (std::size_t i = 0; i < kBatches; ++i) {
    x.push_back(random_inputs(net.input, net.batch, net.classes, rng));
    y.push_back(random_targets(rows, net.classes, rng));
    const ops::Shape shape = net.input.shape.with_batch(net.batch);
    file.add("x" + std::to_string(i), {shape.dims().begin(), shape.dims().end()}, x.back());
    file.add("y" + std::to_string(i), {static_cast<std::int64_t>(rows)},
             {y.back().begin(), y.back().end()});
  }
  std::vector<double> losses;
  for (std::uint64_t step = 0; step < question.steps; ++step) {
    const std::size_t b = step % kBatches;
    std::vector<std::int32_t> held;
    const ops::Shape target_shape{static_cast<std::int64_t>(rows)};
    const auto result =
        need(model->train_batch({ops::Mode::kTrain, step, 0}, input_view(net.input, x[b], held),
                                ops::host_view(std::as_const(y[b]).data(), target_shape),
                                1.0 / static_cast<double>(rows), ops::Into::kReplace));
    losses.push_back(result.mean_loss());
    if (step == 0) {
      model->gradients().read_all(values);
      file.add_all("gradient:", map, values);
    }
    optimizer->step(optimizer->scalars(question.lr, step), model->parameters(), model->gradients());
  }
  model->parameters().read_all(values);
  file.add_all("final:", map, values);
  file.note("losses", losses);
  file.save(question.file);
}

void run(const Question& question) {
  ops::set_strict_fp_env();
  for (const Net& net : nets()) {
    if (net.name == question.net) {
      train(net, question);
      return;
    }
  }
  give_up("there is no net \"" + question.net + "\"");
}

}  // namespace
}  // namespace shoal::parity

int main(int argc, char** argv) {
  if (argc < 7) {
    shoal::parity::give_up(
        "usage: parity_steps NET BACKEND OPTIMIZER LR STEPS FILE [OPTION=VALUE]...");
  }
  shoal::parity::run({argv[1],
                      argv[2],
                      argv[3],
                      std::strtod(argv[4], nullptr),
                      std::strtoull(argv[5], nullptr, 10),
                      argv[6],
                      {argv + 7, argv + argc}});
  return 0;
}
