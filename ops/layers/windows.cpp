#include "ops/layers/windows.h"

namespace shoal::ops {
namespace {

std::size_t size_of(const Options& options, const char* name) {
  return static_cast<std::size_t>(options.get_int(name));
}

OptionSpec whole(const char* name, std::int64_t value, const char* help, double least) {
  return {name, OptionType::kInt, value, help, least, 15.0, {}, Scope::kRun};
}

}  // namespace

Windows::Windows(const Options& options)
    : kernel(size_of(options, "kernel")),
      stride(size_of(options, "stride")),
      padding(size_of(options, "padding")) {
  stride = stride == 0 ? kernel : stride;
}

std::vector<OptionSpec> Windows::options() {
  return {whole("kernel", 2, "side of the window", 1), whole("stride", 0, "step; 0: the side", 0),
          whole("padding", 0, "places around the input, at most half the side", 0)};
}

std::vector<LayerExample> Windows::examples() {
  const std::int64_t one = 1;
  const std::int64_t two = 2;
  const std::int64_t three = 3;
  return {{{{1, 1, 1}, false}, {{"kernel", one}}},
          {{{2, 5, 7}, false}, {}},
          {{{1, 8, 6}, false}, {{"kernel", three}, {"stride", two}, {"padding", one}}},
          {{{3, 7, 4}, false}, {{"kernel", three}, {"stride", one}}},
          {{{1, 9, 9}, false}, {{"kernel", two}, {"stride", three}}}};
}

Result<Port> Windows::output(const Port& input) const {
  if (input.index || input.shape.rank() != 3 || input.shape.elements() == 0) {
    return config_error("needs numbers of shape [channels, height, width], but gets " +
                        std::string(input.index ? "integers " : "") + input.shape.text());
  }
  if (2 * padding > kernel) {
    return config_error("padding " + std::to_string(padding) +
                        " is more than half of its window (" + std::to_string(kernel) + ")");
  }
  const auto fits = [this](std::int64_t n) {
    return static_cast<std::size_t>(n) + 2 * padding >= kernel;
  };
  if (!fits(input.shape[1]) || !fits(input.shape[2])) {
    return config_error("its window of " + std::to_string(kernel) + " does not fit into " +
                        input.shape.text());
  }
  return Port{result(input.shape.with_batch(1)).without_batch(), false};
}

PoolSizes Windows::sizes(const Shape& x) const {
  PoolSizes s{};
  s.planes = static_cast<std::size_t>(x[0] * x[1]);
  s.height = static_cast<std::size_t>(x[2]);
  s.width = static_cast<std::size_t>(x[3]);
  s.kernel = kernel;
  s.stride = stride;
  s.padding = padding;
  s.out_height = (s.height + 2 * padding - kernel) / stride + 1;
  s.out_width = (s.width + 2 * padding - kernel) / stride + 1;
  return s;
}

std::vector<onnx::Attribute> Windows::attributes() const {
  const auto repeated = [](std::size_t count, std::size_t n) {
    return std::vector<std::int64_t>(count, static_cast<std::int64_t>(n));
  };
  return {{"kernel_shape", repeated(2, kernel)},
          {"strides", repeated(2, stride)},
          {"pads", repeated(4, padding)}};
}

Shape Windows::result(const Shape& x) const {
  const PoolSizes s = sizes(x);
  return {x[0], x[1], static_cast<std::int64_t>(s.out_height),
          static_cast<std::int64_t>(s.out_width)};
}

}  // namespace shoal::ops
