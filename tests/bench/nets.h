#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/model.h"
#include "ops/optim/optimizer.h"

/// The nets whose training steps are timed: forward, backward, SGD with momentum.
namespace shoal::bench {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(2);
}

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) {
    give_up(result.error().message);
  }
  return std::move(result).value();
}

/// One step of training; gives the mean loss before it.
using Step = std::function<double()>;

/// What one net is trained with; a step is a call.
struct Training {
  std::unique_ptr<ops::Model> model;
  std::unique_ptr<ops::Optimizer> optimizer;
  std::vector<float> x;
  std::vector<std::int32_t> tokens;  // instead of x where integers go in
  std::vector<std::int32_t> y;
  ops::Shape shape;
  std::uint64_t step = 0;

  double operator()() {
    const double scale = 1.0 / static_cast<double>(y.size());
    const auto targets =
        ops::host_view(std::as_const(y).data(), {ops::Shape{static_cast<std::int64_t>(y.size())}});
    const auto batch = tokens.empty() ? ops::host_view(std::as_const(x).data(), shape)
                                      : ops::host_view(std::as_const(tokens).data(), shape);
    const auto result = model->train_batch({ops::Mode::kTrain, step, 0}, batch, targets, scale,
                                           ops::Into::kReplace);
    if (!result.ok()) {
      give_up(result.error().message);
    }
    optimizer->step(optimizer->scalars(0.01, step), model->parameters(), model->gradients());
    ++step;
    return result->mean_loss();
  }
};

inline std::shared_ptr<Training> training_of(
    ops::Backend& backend, std::shared_ptr<const ops::Architecture> architecture) {
  auto training = std::make_shared<Training>();
  training->model = need(ops::Model::make(std::move(architecture), backend, 1));
  const auto* sgd = need(ops::find_optimizer("sgd"));
  Options momentum = Options::defaults(sgd->options);
  momentum.set("momentum", 0.9);
  training->optimizer =
      need(ops::make_optimizer("sgd", momentum, backend, training->model->parameters().space()));
  return training;
}

inline std::vector<std::int32_t> integers(Rng& rng, std::size_t count, std::uint64_t below) {
  std::vector<std::int32_t> values(count);
  for (auto& value : values) {
    value = static_cast<std::int32_t>(rng.below(below));
  }
  return values;
}

/// A classifier of images [28, 28], batch 64, by the name of its model.
inline Step images(ops::Backend& backend, const std::string& name, const Options& options) {
  auto training =
      training_of(backend, need(ops::make_architecture(name, options, {{1, 28, 28}, false}, 10)));
  Rng rng(1, 1);
  training->shape = {64, 1, 28, 28};
  training->x.resize(training->shape.elements());
  for (auto& value : training->x) {
    value = static_cast<float>(rng.normal());
  }
  training->y = integers(rng, 64, 10);
  return [training] { return (*training)(); };
}

/// A model of text, 65 characters, that says the next for every place.
inline Step texts(ops::Backend& backend, const std::string& name, const Options& options,
                  std::int64_t batch, std::int64_t length) {
  constexpr std::int64_t kCharacters = 65;
  auto training = training_of(
      backend, need(ops::make_architecture(name, options, {{length}, true}, kCharacters)));
  Rng rng(1, 1);
  training->shape = {batch, length};
  training->tokens = integers(rng, training->shape.elements(), kCharacters);
  training->y = integers(rng, training->shape.elements(), kCharacters);
  return [training] { return (*training)(); };
}

inline Step char_lstm(ops::Backend& backend) {
  const auto options = Options::defaults(need(ops::find_model("char_lstm"))->options);
  return texts(backend, "char_lstm", options, 10, 80);
}

/// `width`, `depth` and `heads` as those of steps_torch.py; the head has a weight of its own.
inline Step gpt(ops::Backend& backend, std::int64_t width, std::int64_t depth, std::int64_t heads,
                std::int64_t batch, std::int64_t length) {
  auto options = Options::defaults(need(ops::find_model("gpt"))->options);
  options.set("width", width);
  options.set("depth", depth);
  options.set("heads", heads);
  options.set("tied", false);
  return texts(backend, "gpt", options, batch, length);
}

inline Step mlp(ops::Backend& backend) {
  auto options = Options::defaults(need(ops::find_model("mlp"))->options);
  options.set("layers", std::vector<std::int64_t>{784, 200, 200, 10});
  return images(backend, "mlp", options);
}

/// A net under its name in steps_torch.py.
struct Net {
  std::string name;
  std::string text;
  std::function<Step(ops::Backend&)> make;
};

inline std::vector<Net> nets() {
  const auto by_name = [](const char* name) {
    return [name](ops::Backend& backend) { return images(backend, name, {}); };
  };
  return {{"mlp", "MLP 784-200-200-10, batch 64", &mlp},
          {"lenet5", "LeNet-5, batch 64", by_name("lenet5")},
          {"cnn", "FedAvg CNN 1.66M, batch 64", by_name("cnn")},
          {"char_lstm", "char-LSTM 2x256, 80 places, batch 10", &char_lstm},
          {"gpt_small", "GPT 0.8M (128 x 4, 64 places, batch 32)",
           [](ops::Backend& backend) { return gpt(backend, 128, 4, 4, 32, 64); }},
          {"gpt", "GPT 10.8M (384 x 6, 256 places, batch 4)",
           [](ops::Backend& backend) { return gpt(backend, 384, 6, 6, 4, 256); }}};
}

}  // namespace shoal::bench
