#include "ops/architecture.h"

#include <algorithm>
#include <utility>

#include "ops/loss.h"

namespace shoal::ops {
namespace {

std::vector<std::int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

}  // namespace

Result<std::shared_ptr<const Architecture>> Architecture::make(const ModelSpec& spec) {
  if (spec.layers.empty()) {
    return config_error("a model needs at least one layer");
  }
  auto made = std::make_shared<Architecture>();
  made->input_ = spec.input;
  made->loss_ = spec.loss;
  made->loss_options_ = spec.loss_options;
  Port port = spec.input;
  for (const auto& layer : spec.layers) {
    SHOAL_TRY(made->add_layer(layer, port));
    port = made->nodes_.back().plan.output;
  }
  made->map_.seal();
  SHOAL_ASSIGN(const auto loss, made->make_loss());
  SHOAL_TRY(loss->check(port.shape));
  return std::shared_ptr<const Architecture>(std::move(made));
}

Result<std::unique_ptr<Loss>> Architecture::make_loss() const {
  return ops::make_loss(loss_, loss_options_);
}

Status Architecture::add_layer(const LayerSpec& spec, const Port& input) {
  Node node;
  node.name = spec.name.empty() ? std::to_string(nodes_.size()) : spec.name;
  node.type = spec.type;
  node.input = input;
  node.first_param = map_.params().size();
  node.first_buffer = map_.buffers().size();
  const auto fail = [&](const Error& error) {
    return in_layer(error, nodes_.size(), spec.type, node.name);
  };
  auto layer = make_layer(spec);
  if (!layer.ok()) {
    return fail(layer.error());
  }
  node.layer = std::move(layer).value();
  auto plan = node.layer->plan(input);
  if (!plan.ok()) {
    return fail(plan.error());
  }
  node.plan = std::move(plan).value();
  for (const auto& p : node.plan.params) {
    Param param;
    param.name = node.name + "." + p.name;
    param.shape = dims_of(p.shape);
    SHOAL_TRY(map_.add(std::move(param)));
    inits_.push_back(p.init);
  }
  for (const auto& [name, with] : spec.ties) {
    const auto tied = map_.tie(node.name + "." + name, with);
    if (!tied.ok()) {
      return fail(tied.error());
    }
  }
  for (const auto& b : node.plan.buffers) {
    Buffer buffer;
    buffer.name = node.name + "." + b.name;
    buffer.shape = dims_of(b.shape);
    buffer.policy = b.policy;
    SHOAL_TRY(map_.add_buffer(std::move(buffer)));
    buffer_values_.push_back(b.value);
  }
  nodes_.push_back(std::move(node));
  return {};
}

Ranges Architecture::layer_ranges(std::size_t begin, std::size_t end) const {
  Ranges ranges;
  for (std::size_t i = begin; i < end; ++i) {
    const auto& node = nodes_[i];
    for (std::size_t p = 0; p < node.plan.params.size(); ++p) {
      const auto& param = map_.params()[node.first_param + p];
      const bool large = param.elements >= kGranule;
      const std::uint64_t size =
          large ? (param.elements + kGranule - 1) / kGranule * kGranule : param.elements;
      ranges.add({param.offset, param.offset + size});
    }
  }
  return ranges;
}

FlatSpace Architecture::space(std::size_t begin, std::size_t end) const {
  const bool whole = begin == 0 && end == nodes_.size();
  return {map_, whole ? Ranges(Range{0, map_.flat_size()}) : layer_ranges(begin, end)};
}

std::vector<float> Architecture::initial_parameters(std::uint64_t seed) const {
  std::vector<float> values(static_cast<std::size_t>(map_.flat_size()));
  for (std::size_t i = 0; i < inits_.size(); ++i) {
    const auto& param = map_.params()[i];
    if (map_.first_tied(i) != i) {
      continue;
    }
    initialize(param.name, inits_[i], seed,
               std::span(values).subspan(static_cast<std::size_t>(param.offset),
                                         static_cast<std::size_t>(param.elements)));
  }
  return values;
}

std::vector<float> Architecture::initial_buffers() const {
  std::vector<float> values(static_cast<std::size_t>(map_.buffer_size()));
  for (std::size_t i = 0; i < buffer_values_.size(); ++i) {
    const auto& buffer = map_.buffers()[i];
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(buffer.offset), buffer.elements,
                buffer_values_[i]);
  }
  return values;
}

}  // namespace shoal::ops
