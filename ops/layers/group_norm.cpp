#include "ops/layers/group_norm.h"

#include "ops/layers/row_norm.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class GroupNorm final : public RowNormLayer {
 public:
  explicit GroupNorm(const Options& options)
      : RowNormLayer(true, true),
        groups_(options.get_int("groups")),
        epsilon_(options.get_float("eps")) {}

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    onnx::Graph& graph = *ctx.graph;
    const auto groups = static_cast<std::size_t>(groups_);
    // Opset 17 normalises channels alone: groups become such, and are scaled afterwards.
    const auto each = static_cast<std::int64_t>(ctx.input.elements() / groups);
    const std::string plain = graph.node(
        "InstanceNormalization",
        {graph.reshape(x, {groups_, each}), graph.reals({groups_}, std::vector<float>(groups, 1)),
         graph.reals({groups_}, std::vector<float>(groups, 0))},
        {{"epsilon", static_cast<float>(epsilon_)}});
    std::vector<std::int64_t> by_channel(ctx.input.rank(), 1);
    by_channel[0] = ctx.input[0];
    const auto spread = [&](const onnx::ModelTensor& tensor) {
      return graph.node("Reshape", {graph.tensor(tensor), graph.integers(by_channel)});
    };
    const std::string scaled =
        graph.node("Mul", {graph.reshape(plain, ctx.input), spread(ctx.params[0])});
    return graph.node("Add", {scaled, spread(ctx.params[1])});
  }

 protected:
  [[nodiscard]] Status check(const Shape& sample) const override {
    if (sample[0] % groups_ != 0) {
      return config_error(std::to_string(groups_) + " groups do not divide " +
                          std::to_string(sample[0]) + " channels");
    }
    return {};
  }

  [[nodiscard]] NormSizes sizes(const Shape& x) const override {
    const auto groups = static_cast<std::size_t>(groups_);
    const auto rows = static_cast<std::size_t>(x[0]) * groups;
    const auto channels = static_cast<std::size_t>(x[1]);
    const std::size_t inner = x.without_batch().without_batch().elements();
    return {rows, channels / groups * inner, groups, inner, epsilon_};
  }

 private:
  std::int64_t groups_;
  double epsilon_;
};

}  // namespace

LayerEntry group_norm_entry() {
  return {"group_norm",
          "normalisation of each group of channels",
          {{"groups",
            OptionType::kInt,
            std::int64_t{1},
            "groups of channels",
            1.0,
            1e6,
            {},
            Scope::kRun},
           epsilon_option()},
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<GroupNorm>(options);
          },
          {{{{1, 1, 1}, false}, {}},
           {{{6, 5, 3}, false}, {{"groups", std::int64_t{3}}}},
           {{{4, 7, 5}, false}, {{"groups", std::int64_t{4}}}},
           {{{6}, false}, {{"groups", std::int64_t{2}}}},
           {{{4, 9}, false}, {}}}};
}

}  // namespace shoal::ops
