// Every example of every layer and every model: exported as ONNX, and its tensors with an input
// and what the CPU backend makes of it as safetensors, for exports.py to compare. With --same, what
// it wrote back of the weights.
#include <iterator>
#include <string>
#include <string_view>

#include "ops/model.h"
#include "ops/onnx/export.h"
#include "tests/parity/written.h"

namespace shoal::parity {
namespace {

constexpr std::string_view kPrefix = "param:";
constexpr std::size_t kBatch = 3;
constexpr std::int64_t kClasses = 10;

/// Numbers unlike those that training starts with, so that no scale is 1 and no bias 0.
void shake(ops::Model& model, Rng& rng) {
  for (const auto& param : model.map().params()) {
    const Range where{param.offset, param.offset + param.elements};
    std::vector<float> values(static_cast<std::size_t>(param.elements));
    model.parameters().read(where, values);
    for (auto& value : values) {
      value += 0.1F * static_cast<float>(rng.normal());
    }
    model.parameters().write(where, values);
  }
}

/// Lets running statistics see two batches.
void train_twice(ops::Model& model, std::int64_t tokens, Rng& rng) {
  const auto& port = model.architecture().input();
  for (std::uint64_t step = 0; step < 2 && !model.map().buffers().empty(); ++step) {
    std::vector<std::int32_t> held;
    ops::Pass pass;
    const auto x = random_inputs(port, kBatch, tokens, rng);
    const ops::PassInfo info{ops::Mode::kTrain, step, 0};
    need(model.forward(info, input_view(port, x, held), pass));
    model.end_step(info, pass);
  }
}

void write(const std::string& path, const ops::ModelSpec& spec, std::int64_t tokens,
           ops::Backend& backend) {
  const auto architecture = need(ops::Architecture::make(spec));
  const auto model = need(ops::Model::make(architecture, backend, 1));
  Rng rng(1, 1);
  shake(*model, rng);
  train_twice(*model, tokens, rng);
  const auto x = random_inputs(spec.input, kBatch, tokens, rng);
  std::vector<std::int32_t> held;
  ops::Pass pass;
  const auto y =
      need(model->forward({ops::Mode::kEval, 0, 0}, input_view(spec.input, x, held), pass));
  std::vector<float> out(y.elements());
  backend.download(y, ops::host_view(out.data(), y.shape));
  std::vector<float> parameters(static_cast<std::size_t>(architecture->map().flat_size()));
  model->parameters().read_all(parameters);
  std::vector<float> buffers(static_cast<std::size_t>(architecture->map().buffer_size()));
  model->buffers().read_all(buffers);

  Written file;
  file.note("model", describe(spec, *architecture));
  file.add_all(std::string(kPrefix), architecture->map(), parameters);
  file.add_buffers(std::string(kPrefix), architecture->map(), buffers);
  const auto dims = [](const ops::Shape& shape) {
    return std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end());
  };
  file.add("x", dims(spec.input.shape.with_batch(kBatch)), x);
  file.add("y", dims(y.shape), out);
  file.save(path + ".safetensors");
  const auto onnx = ops::onnx::export_model(*architecture, "parity", parameters, buffers);
  if (onnx.ok()) {
    save_bytes(path + ".onnx", onnx->span());
  } else {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), onnx.error().message.c_str());
  }
}

/// What Python's library wrote of an equivalent nn.Module, beside what it was made of: the same
/// tensors to the bit. Prints what differs.
bool same_again(const std::string& path) {
  std::ifstream ours(path + ".safetensors", std::ios::binary);
  std::ifstream theirs(path + ".back", std::ios::binary);
  const std::string a{std::istreambuf_iterator<char>(ours), {}};
  const std::string b{std::istreambuf_iterator<char>(theirs), {}};
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const auto before = need(ops::safetensors::parse(bytes(a)));
  const auto after = need(ops::safetensors::parse(bytes(b)));
  bool same = true;
  for (const auto& [name, tensor] : before.tensors) {
    if (name.rfind(kPrefix, 0) != 0) {
      continue;
    }
    std::vector<float> wanted(tensor.elements());
    std::vector<float> got(tensor.elements());
    need(before.read_f32(name, tensor.shape, wanted));
    const auto read = after.read_f32(name.substr(kPrefix.size()), tensor.shape, got);
    if (!read.ok() || wanted != got) {
      std::printf("%s: safetensors: %s\n", path.c_str(),
                  read.ok() ? (name + " differs").c_str() : read.error().message.c_str());
      same = false;
    }
  }
  return same;
}

/// Layers that choose rows take tokens below their number of rows.
std::int64_t tokens_of(const ops::LayerExample& example) {
  for (const auto& [name, value] : example.options) {
    if (example.input.index && std::holds_alternative<std::int64_t>(value)) {
      return std::get<std::int64_t>(value);
    }
  }
  return kClasses;
}

void write_all(const std::string& folder) {
  const auto backend = ops::make_cpu_backend();
  for (const auto& entry : ops::layer_registry()) {
    for (std::size_t i = 0; i < entry.examples.size(); ++i) {
      const auto& example = entry.examples[i];
      ops::ModelSpec spec;
      spec.input = example.input;
      spec.layers.push_back({entry.type, "", example.options, example.inner, example.shortcut});
      write(folder + "/layer-" + entry.type + "-" + std::to_string(i), spec, tokens_of(example),
            *backend);
    }
  }
  for (const auto& entry : ops::model_registry()) {
    const Options options = Options::defaults(entry.options);
    auto spec = entry.make(options, {{1, 28, 28}, false}, kClasses);
    spec = spec.ok() ? std::move(spec) : entry.make(options, {{3, 32, 32}, false}, kClasses);
    spec = spec.ok() ? std::move(spec) : entry.make(options, {{16}, true}, kClasses);
    write(folder + "/model-" + entry.name, need(std::move(spec)), kClasses, *backend);
  }
}

}  // namespace
}  // namespace shoal::parity

int main(int argc, char** argv) {
  if (argc == 2) {
    shoal::parity::write_all(argv[1]);
    return 0;
  }
  if (argc < 3 || std::string(argv[1]) != "--same") {
    shoal::parity::give_up("usage: parity_exports FOLDER | --same PATH...");
  }
  bool same = true;
  for (int i = 2; i < argc; ++i) {
    same = shoal::parity::same_again(argv[i]) && same;
  }
  return same ? 0 : 1;
}
