#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ops/architecture.h"
#include "ops/base/rng.h"
#include "ops/safetensors.h"

/// What the programs of this folder share: models and numbers written down for PyTorch to do the
/// same with.
namespace shoal::parity {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "parity: %s\n", why.c_str());
  std::_Exit(2);
}

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) {
    give_up(result.error().message);
  }
  return std::move(result).value();
}

inline void need(const Status& status) {
  if (!status.ok()) {
    give_up(status.error().message);
  }
}

/// A model in words: layers in order with every option, defaults too, and what goes into each.
nlohmann::json describe(const ops::ModelSpec& spec, const ops::Architecture& architecture);

/// `samples` inputs of a model: normal reals, or tokens below `classes`.
std::vector<float> random_inputs(const ops::Port& port, std::size_t samples, std::int64_t classes,
                                 Rng& rng);
std::vector<std::int32_t> random_targets(std::size_t count, std::int64_t classes, Rng& rng);

/// Inputs as a model takes them: reals stay, tokens become integers kept in `tokens`.
ops::ConstTensorView input_view(const ops::Port& port, std::span<const float> values,
                                std::vector<std::int32_t>& tokens);

/// A safetensors file in the making; owns what it is given.
class Written {
 public:
  void add(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> values);
  /// Each tensor of a map as "<prefix><name>".
  void add_all(const std::string& prefix, const ParamMap& map, std::span<const float> parameters);
  void add_buffers(const std::string& prefix, const ParamMap& map, std::span<const float> buffers);
  void note(const std::string& key, const nlohmann::json& value);
  void save(const std::string& path);

 private:
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::string, std::string>> notes_;
};

void save_bytes(const std::string& path, ByteSpan bytes);

}  // namespace shoal::parity
