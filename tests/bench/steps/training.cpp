#include "tests/bench/steps/training.h"

#include <cstdio>
#include <cstdlib>

namespace shoal::bench {

void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(2);
}

double Training::train(const ops::ConstTensorView& batch, const ops::ConstTensorView& targets) {
  const double scale = 1.0 / static_cast<double>(targets.elements());
  const auto result =
      model->train_batch({ops::Mode::kTrain, step, 0}, batch, targets, scale, ops::Into::kReplace);
  if (!result.ok()) {
    give_up(result.error().message);
  }
  optimizer->step(optimizer->scalars(0.01, step), model->parameters(), model->gradients());
  ++step;
  return result->mean_loss();
}

std::shared_ptr<Training> training_of(ops::Backend& backend,
                                      std::shared_ptr<const ops::Architecture> architecture) {
  auto training = std::make_shared<Training>();
  training->model = need(ops::Model::make(std::move(architecture), backend, 1));
  const auto* sgd = need(ops::find_optimizer("sgd"));
  Options momentum = Options::defaults(sgd->options);
  momentum.set("momentum", 0.9);
  training->optimizer =
      need(ops::make_optimizer("sgd", momentum, backend, training->model->parameters().space()));
  return training;
}

std::shared_ptr<Training> mlp_training(ops::Backend& backend) {
  auto options = Options::defaults(need(ops::find_model("mlp"))->options);
  options.set("layers", std::vector<std::int64_t>{784, 200, 200, 10});
  return training_of(backend,
                     need(ops::make_architecture("mlp", options, {{1, 28, 28}, false}, 10)));
}

std::shared_ptr<Training> gpt_training(ops::Backend& backend, std::int64_t width,
                                       std::int64_t depth, std::int64_t heads, std::int64_t length,
                                       std::int64_t characters) {
  auto options = Options::defaults(need(ops::find_model("gpt"))->options);
  options.set("width", width);
  options.set("depth", depth);
  options.set("heads", heads);
  options.set("tied", false);
  return training_of(backend,
                     need(ops::make_architecture("gpt", options, {{length}, true}, characters)));
}

namespace {

constexpr std::int64_t kCharacters = 65;

std::vector<std::int32_t> integers(Rng& rng, std::size_t count, std::uint64_t below) {
  std::vector<std::int32_t> values(count);
  for (auto& value : values) {
    value = static_cast<std::int32_t>(rng.below(below));
  }
  return values;
}

/// A classifier of images [28, 28] on one batch of 64.
Step images(std::shared_ptr<Training> training) {
  Rng rng(1, 1);
  const ops::Shape shape = {64, 1, 28, 28};
  std::vector<float> x(shape.elements());
  for (auto& value : x) {
    value = static_cast<float>(rng.normal());
  }
  return [training, x, shape, y = integers(rng, 64, 10)] {
    return training->train(ops::host_view(x.data(), shape), ops::host_view(y.data(), {64}));
  };
}

Step images(ops::Backend& backend, const char* name) {
  return images(
      training_of(backend, need(ops::make_architecture(name, {}, {{1, 28, 28}, false}, 10))));
}

/// A model of text that says the next character for every place.
Step texts(std::shared_ptr<Training> training, std::int64_t batch, std::int64_t length) {
  Rng rng(1, 1);
  const ops::Shape shape = {batch, length};
  auto x = integers(rng, shape.elements(), kCharacters);
  auto y = integers(rng, shape.elements(), kCharacters);
  return [training, x = std::move(x), y = std::move(y), shape] {
    return training->train(ops::host_view(x.data(), shape),
                           ops::host_view(y.data(), {static_cast<std::int64_t>(y.size())}));
  };
}

Step char_lstm(ops::Backend& backend) {
  const auto options = Options::defaults(need(ops::find_model("char_lstm"))->options);
  return texts(training_of(backend, need(ops::make_architecture("char_lstm", options, {{80}, true},
                                                                kCharacters))),
               10, 80);
}

}  // namespace

std::vector<Row> rows() {
  const auto by_name = [](const char* name) {
    return [name](ops::Backend& backend) { return images(backend, name); };
  };
  return {{"mlp", "MLP 784-200-200-10, batch 64", 0.5, 40,
           [](ops::Backend& backend) { return images(mlp_training(backend)); }},
          {"lenet5", "LeNet-5, batch 64", 0.6, 8, by_name("lenet5")},
          {"cnn", "FedAvg CNN 1.66M, batch 64", 0.75, 2, by_name("cnn")},
          {"char_lstm", "char-LSTM 2x256, 80 places, batch 10", 0.4, 1, &char_lstm},
          {"gpt_small", "GPT 0.8M (128 x 4, 64 places, batch 32)", 0.65, 1,
           [](ops::Backend& backend) {
             return texts(gpt_training(backend, 128, 4, 4, 64, kCharacters), 32, 64);
           }},
          {"gpt", "GPT 10.8M (384 x 6, 256 places, batch 4)", 0.8, 1, [](ops::Backend& backend) {
             return texts(gpt_training(backend, 384, 6, 6, 256, kCharacters), 4, 256);
           }}};
}

}  // namespace shoal::bench
