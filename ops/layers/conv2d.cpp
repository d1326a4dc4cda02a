#include "ops/layers/conv2d.h"

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

std::size_t positive(const Options& options, const char* name) {
  return static_cast<std::size_t>(options.get_int(name));
}

class Conv2d final : public Layer {
 public:
  explicit Conv2d(const Options& options)
      : with_bias_(options.get_bool("bias")),
        activation_(options.get_string("activation") == "relu" ? Activation::kRelu
                                                               : Activation::kNone) {
    fixed_.out = positive(options, "out");
    fixed_.kernel = positive(options, "kernel");
    fixed_.stride = positive(options, "stride");
    fixed_.padding = positive(options, "padding");
    fixed_.dilation = positive(options, "dilation");
    fixed_.groups = positive(options, "groups");
    fixed_.pool = positive(options, "max_pool");
  }

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    const std::size_t rank = input.shape.rank();
    if (input.index || (rank != 2 && rank != 3) || input.shape.elements() == 0) {
      return config_error("needs numbers of shape [channels, height, width], but gets " +
                          std::string(input.index ? "integers " : "") + input.shape.text());
    }
    const ConvSizes s = sizes(input.shape.with_batch(1));
    const std::size_t in = s.in;
    if (in % fixed_.groups != 0 || fixed_.out % fixed_.groups != 0) {
      return config_error(std::to_string(fixed_.groups) + " groups do not divide " +
                          std::to_string(in) + " channels in and " + std::to_string(fixed_.out) +
                          " out");
    }
    if (s.conv_height < s.pool || s.conv_width < s.pool) {
      return config_error("its kernel of " + std::to_string(fixed_.kernel) +
                          (s.pool > 1 ? " with the pooling after it" : "") + " does not fit into " +
                          input.shape.text() + "; less stride or more padding would help");
    }
    const std::size_t depth = in / s.groups * s.kernel * s.kernel;
    const auto signed_size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    LayerPlan plan;
    plan.output.shape = output(s).without_batch();
    plan.params.push_back({"weight",
                           {signed_size(s.out), signed_size(in / s.groups), signed_size(s.kernel),
                            signed_size(s.kernel)},
                           Init::kaiming_uniform(depth)});
    if (with_bias_) {
      plan.params.push_back({"bias", {signed_size(s.out)}, Init::kaiming_uniform(depth)});
    }
    plan.saved_elements = plan.output.shape.elements();
    if (s.pool > 1) {
      plan.saved_elements += words(plan.output.shape);
    }
    plan.conv = s;
    plan.forward_flops = 2 * depth * s.out * s.conv_height * s.conv_width;
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    const ConvSizes s = sizes(x.shape);
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, output(s)));
    SHOAL_ASSIGN(const TensorView argmax, winners(ctx, s, saved));
    ctx.backend->conv2d(s, x, ctx.params[0], with_bias_ ? ctx.params[1] : TensorView(), activation_,
                        y, argmax);
    saved.output = y;
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    const ConvSizes s = sizes(saved.input.shape);
    ConvBackward pass;
    pass.x = saved.input;
    pass.weight = ctx.params[0];
    pass.y = saved.output;
    SHOAL_ASSIGN(pass.argmax, winners(ctx, s, saved));
    pass.dy = dy;
    pass.activation = activation_;
    pass.dweight = ctx.grads[0];
    pass.dbias = with_bias_ ? ctx.grads[1] : TensorView();
    pass.into = ctx.gradients_into;
    if (ctx.input_gradient) {
      SHOAL_ASSIGN(pass.dx, ctx.workspace->other_than(dy, *ctx.backend, saved.input.shape));
    }
    ctx.backend->conv2d_backward(s, pass);
    return pass.dx;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    const auto whole = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    const auto twice = [&](std::size_t n) { return std::vector<std::int64_t>(2, whole(n)); };
    onnx::Graph& graph = *ctx.graph;
    std::vector<std::string> inputs{x, graph.tensor(ctx.params[0])};
    if (ctx.input.rank() == 2) {
      inputs[0] = graph.reshape(x, {1, ctx.input[0], ctx.input[1]});
    }
    if (with_bias_) {
      inputs.push_back(graph.tensor(ctx.params[1]));
    }
    std::string y = graph.node("Conv", inputs,
                               {{"kernel_shape", twice(fixed_.kernel)},
                                {"strides", twice(fixed_.stride)},
                                {"pads", std::vector<std::int64_t>(4, whole(fixed_.padding))},
                                {"dilations", twice(fixed_.dilation)},
                                {"group", whole(fixed_.groups)}});
    y = graph.activate(y, activation_);
    if (fixed_.pool == 1) {
      return y;
    }
    return graph.node("MaxPool", {y},
                      {{"kernel_shape", twice(fixed_.pool)}, {"strides", twice(fixed_.pool)}});
  }

 private:
  /// What is known of x [N, in, H, W], or [N, H, W] of one channel; the result is 0 high where the
  /// kernel does not fit.
  [[nodiscard]] ConvSizes sizes(const Shape& x) const {
    ConvSizes s = fixed_;
    s.batch = static_cast<std::size_t>(x[0]);
    s.in = x.rank() == 3 ? 1 : static_cast<std::size_t>(x[1]);
    s.height = static_cast<std::size_t>(x[x.rank() - 2]);
    s.width = static_cast<std::size_t>(x[x.rank() - 1]);
    const std::size_t reach = s.dilation * (s.kernel - 1) + 1;
    const auto places = [&](std::size_t n) {
      return n + 2 * s.padding < reach ? 0 : (n + 2 * s.padding - reach) / s.stride + 1;
    };
    s.conv_height = places(s.height);
    s.conv_width = places(s.width);
    return s;
  }

  static Shape output(const ConvSizes& s) {
    return {static_cast<std::int64_t>(s.batch), static_cast<std::int64_t>(s.out),
            static_cast<std::int64_t>(s.conv_height / s.pool),
            static_cast<std::int64_t>(s.conv_width / s.pool)};
  }

  /// Reals that hold a byte for each element of a sample.
  static std::size_t words(const Shape& sample) { return (sample.elements() + 3) / 4; }

  /// Which of each window was the largest; empty without pooling.
  static Result<TensorView> winners(const Ctx& ctx, const ConvSizes& s, Saved& saved) {
    if (s.pool == 1) {
      return TensorView();
    }
    const Shape shape{static_cast<std::int64_t>(4 * s.batch * words(output(s).without_batch()))};
    return saved.tensor(1, *ctx.backend, DType::kU8, shape);
  }

  ConvSizes fixed_{};  // what does not depend on the input
  bool with_bias_;
  Activation activation_;
};

LayerExample example(Shape in, std::int64_t out, std::int64_t kernel,
                     std::vector<std::pair<std::string, OptionValue>> more) {
  more.emplace_back("out", out);
  more.emplace_back("kernel", kernel);
  return {{in, false}, std::move(more)};
}

OptionSpec whole(const char* name, std::int64_t value, const char* help, double least,
                 double most) {
  return {name, OptionType::kInt, value, help, least, most, {}, Scope::kRun};
}

}  // namespace

LayerEntry conv2d_entry() {
  const std::int64_t two = 2;
  const std::int64_t three = 3;
  const std::string relu = "relu";
  return {
      "conv2d",
      "a convolution over [channels, height, width], with activation and pooling if wanted",
      {whole("out", 1, "channels out", 1, 1e6),
       whole("kernel", 3, "side of the kernel", 1, 255),
       whole("stride", 1, "step of the kernel", 1, 255),
       whole("padding", 0, "zeros around the input", 0, 255),
       whole("dilation", 1, "distance of the kernel's elements", 1, 255),
       whole("groups", 1, "independent groups of channels; as many as channels: depthwise", 1, 1e6),
       {"bias", OptionType::kBool, true, "whether a bias is added", {}, {}, {}, Scope::kRun},
       {"activation",
        OptionType::kString,
        std::string("none"),
        "applied to the result in the same pass",
        {},
        {},
        {"none", "relu"},
        Scope::kRun},
       whole("max_pool", 1, "window and step of a max pooling in the same pass; 1: none", 1, 15)},
      [](const Options& options) -> std::unique_ptr<Layer> {
        return std::make_unique<Conv2d>(options);
      },
      {example({1, 1, 1}, 1, 1, {}), example({5, 4}, 2, 3, {{"padding", std::int64_t{1}}}),
       example({2, 5, 7}, 3, 3, {}),
       example({1, 6, 6}, 2, 3, {{"padding", std::int64_t{1}}, {"activation", relu}}),
       example({3, 7, 5}, 4, 3, {{"stride", two}, {"padding", two}, {"bias", false}}),
       example({2, 9, 8}, 3, 3, {{"dilation", two}, {"stride", three}, {"padding", three}}),
       example({4, 6, 5}, 6, 3, {{"groups", two}, {"padding", std::int64_t{1}}}),
       example({3, 5, 5}, 3, 3, {{"groups", three}, {"stride", two}}),
       example({2, 9, 7}, 3, 2, {{"max_pool", two}, {"activation", relu}}),
       example({1, 7, 9}, 2, 5, {{"max_pool", two}, {"padding", two}, {"activation", relu}}),
       example({2, 9, 9}, 2, 1, {{"max_pool", three}, {"bias", false}})}};
}

}  // namespace shoal::ops
