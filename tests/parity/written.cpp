#include "tests/parity/written.h"

#include <type_traits>

namespace shoal::parity {
namespace {

nlohmann::json json_of(const OptionValue& value) {
  return std::visit(
      [](const auto& v) -> nlohmann::json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Duration>) {
          return option_text(v);
        } else {
          return v;
        }
      },
      value);
}

nlohmann::json describe_layer(const ops::LayerSpec& spec, const std::string& name,
                              const ops::Shape& input, const ops::LayerPlan& plan) {
  Options options = Options::defaults(need(ops::find_layer(spec.type))->options);
  for (const auto& [key, value] : spec.options) {
    options.set(key, value);
  }
  nlohmann::json out = {{"type", spec.type}, {"name", name}};
  out["input"] = std::vector<std::int64_t>(input.dims().begin(), input.dims().end());
  out["options"] = nlohmann::json::object();
  for (const auto& [key, value] : options.values()) {
    out["options"][key] = json_of(value);
  }
  std::size_t place = 0;  // within the plan, which has inner layers and shortcut in one row
  const auto chain = [&](const std::vector<ops::LayerSpec>& layers, const std::string& prefix) {
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& inner = plan.inner.at(place++);
      const std::string inner_name =
          layers[i].name.empty() ? prefix + std::to_string(i) : layers[i].name;
      list.push_back(describe_layer(layers[i], inner_name, inner.inner_input, inner));
    }
    return list;
  };
  out["inner"] = chain(spec.inner, "");
  out["shortcut"] = chain(spec.shortcut, "shortcut.");
  return out;
}

}  // namespace

nlohmann::json describe(const ops::ModelSpec& spec, const ops::Architecture& architecture) {
  nlohmann::json out = {{"loss", spec.loss}, {"index", spec.input.index}};
  out["layers"] = nlohmann::json::array();
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const auto& node = architecture.nodes()[i];
    out["layers"].push_back(describe_layer(spec.layers[i], node.name, node.input.shape, node.plan));
  }
  return out;
}

std::vector<float> random_inputs(const ops::Port& port, std::size_t samples, std::int64_t classes,
                                 Rng& rng) {
  std::vector<float> values(samples * port.shape.elements());
  for (auto& value : values) {
    value = port.index ? static_cast<float>(rng.below(static_cast<std::uint64_t>(classes)))
                       : static_cast<float>(rng.normal());
  }
  return values;
}

std::vector<std::int32_t> random_targets(std::size_t count, std::int64_t classes, Rng& rng) {
  std::vector<std::int32_t> targets(count);
  for (auto& target : targets) {
    target = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(classes)));
  }
  return targets;
}

ops::ConstTensorView input_view(const ops::Port& port, std::span<const float> values,
                                std::vector<std::int32_t>& tokens) {
  const ops::Shape shape = port.shape.with_batch(values.size() / port.shape.elements());
  if (!port.index) {
    return ops::host_view(values.data(), shape);
  }
  tokens.assign(values.begin(), values.end());
  return ops::host_view(std::as_const(tokens).data(), shape);
}

void Written::add(const std::string& name, std::vector<std::int64_t> shape,
                  std::vector<float> values) {
  tensors_.push_back({name, std::move(shape), std::move(values)});
}

void Written::add_all(const std::string& prefix, const ParamMap& map,
                      std::span<const float> parameters) {
  for (const auto& p : map.params()) {
    const auto part = parameters.subspan(static_cast<std::size_t>(p.offset),
                                         static_cast<std::size_t>(p.elements));
    add(prefix + p.name, p.shape, {part.begin(), part.end()});
  }
}

void Written::add_buffers(const std::string& prefix, const ParamMap& map,
                          std::span<const float> buffers) {
  for (const auto& b : map.buffers()) {
    const auto part =
        buffers.subspan(static_cast<std::size_t>(b.offset), static_cast<std::size_t>(b.elements));
    add(prefix + b.name, b.shape, {part.begin(), part.end()});
  }
}

void Written::note(const std::string& key, const nlohmann::json& value) {
  notes_.emplace_back(key, value.dump());
}

void Written::save(const std::string& path) {
  ops::safetensors::Writer writer;
  for (const auto& t : tensors_) {
    writer.add(t.name, t.shape, t.values);
  }
  for (const auto& [key, value] : notes_) {
    writer.set_metadata(key, value);
  }
  ByteWriter out;
  writer.write(out);
  save_bytes(path, out.span());
}

void save_bytes(const std::string& path, ByteSpan bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    give_up("cannot write " + path);
  }
}

}  // namespace shoal::parity
