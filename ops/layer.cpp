#include "ops/layer.h"

#include <utility>

#include "ops/find_entry.h"

namespace shoal::ops {
namespace {

Result<std::vector<NamedLayer>> make_chain(const std::vector<LayerSpec>& specs,
                                           const std::string& prefix) {
  std::vector<NamedLayer> chain;
  for (const auto& spec : specs) {
    NamedLayer made{
        spec.name.empty() ? prefix + std::to_string(chain.size()) : spec.name, spec.type, {}};
    auto layer = make_layer(spec);
    if (!layer.ok()) {
      return in_layer(layer.error(), chain.size(), spec.type, made.name);
    }
    made.layer = std::move(layer).value();
    chain.push_back(std::move(made));
  }
  return chain;
}

}  // namespace

Result<std::unique_ptr<Layer>> make_layer(const LayerSpec& spec) {
  SHOAL_ASSIGN(const LayerEntry* entry, find_layer(spec.type));
  SHOAL_ASSIGN(const Options options, checked_options(entry->options, spec.options));
  if (entry->make_around == nullptr) {
    if (!spec.inner.empty() || !spec.shortcut.empty()) {
      return config_error("holds no other layers");
    }
    return entry->make(options);
  }
  SHOAL_ASSIGN(auto inner, make_chain(spec.inner, ""));
  SHOAL_ASSIGN(auto shortcut, make_chain(spec.shortcut, "shortcut."));
  return entry->make_around(options, std::move(inner), std::move(shortcut));
}

Error in_layer(const Error& error, std::size_t index, const std::string& type,
               const std::string& name) {
  return {
      error.code,
      "layer " + std::to_string(index + 1) + " (" + type + " \"" + name + "\"): " + error.message,
      {}};
}

Result<std::string> Layer::write_onnx(const onnx::LayerContext& /*ctx*/,
                                      const std::string& /*x*/) const {
  return config_error("has no ONNX form; export safetensors");
}

Result<TensorView> Workspace::hold(Backend& backend, const Shape& shape) {
  if (stack_.size() == depth_) {
    stack_.emplace_back();
  }
  SHOAL_ASSIGN(const TensorView memory, stack_[depth_].get(backend, backend.real(), shape));
  ++depth_;
  return memory;
}

Result<TensorView> Workspace::push(ConstTensorView values, Backend& backend) {
  SHOAL_ASSIGN(const TensorView copy, hold(backend, values.shape));
  backend.copy(values, copy);
  return copy;
}

std::size_t Workspace::bytes() const {
  std::size_t total = buffers_[0].bytes() + buffers_[1].bytes();
  for (const auto& held : stack_) {
    total += held.bytes();
  }
  return total;
}

Result<TensorView> Workspace::other_than(const TensorView& taken, Backend& backend,
                                         const Shape& shape) {
  // get() leaves the memory of the buffer that is taken alone, whichever of the two it is.
  const std::size_t index = buffers_[0].holds(taken) ? 1 : 0;
  return buffers_[index].get(backend, backend.real(), shape);
}

}  // namespace shoal::ops
