#include "ops/optim/optimizer.h"

#include <algorithm>
#include <cmath>

namespace shoal::ops {

double bias_correction(double beta, std::uint64_t step) {
  return 1 - std::pow(beta, static_cast<double>(step) + 1);
}

void Optimizer::step(const StepScalars& scalars, const Ranges& where, TensorView parameters,
                     ConstTensorView gradients) {
  SHOAL_CHECK(parameters.elements() == gradients.elements(), "each parameter has a gradient");
  for (const auto& range : where.list()) {
    const auto begin = static_cast<std::size_t>(range.begin);
    const auto count = static_cast<std::size_t>(range.size());
    apply(scalars, begin, parameters.slice(begin, count), gradients.slice(begin, count));
  }
}

void Optimizer::step(const StepScalars& scalars, FlatArray& parameters,
                     const FlatArray& gradients) {
  step(scalars, Ranges(Range{0, parameters.space().size()}), parameters.view(), gradients.view());
}

void Optimizer::step(const StepScalars& scalars, std::span<float> parameters,
                     std::span<const float> gradients) {
  const Shape shape{static_cast<std::int64_t>(parameters.size())};
  step(scalars, Ranges(Range{0, parameters.size()}), host_view(parameters.data(), shape),
       host_view(gradients.data(), shape));
}

void Optimizer::save(ByteWriter& out) {
  const auto arrays = state();
  out.put(static_cast<std::uint32_t>(arrays.size()));
  for (const auto& [name, array] : arrays) {
    const auto count = array->space().size();
    out.put_string(name);
    out.put(static_cast<std::uint64_t>(count));
    std::vector<float> values(count);
    array->read_all(values);
    out.put_bytes(std::as_bytes(std::span(values)));
  }
}

Status Optimizer::load(ByteReader& in) {
  constexpr std::size_t kNameMax = 64;
  const Error wrong = data_error("the optimizer's state is cut short or belongs to another one");
  std::uint32_t count = 0;
  const auto arrays = state();
  if (!in.get(count) || count != arrays.size()) {
    return wrong;
  }
  std::vector<ByteSpan> found;  // judged before any is taken, so that state is old or new, not both
  for (const auto& [name, array] : arrays) {
    std::string said;
    std::uint64_t elements = 0;
    if (!in.get_string(said, kNameMax) || said != name || !in.get(elements) ||
        elements != array->space().size() ||
        !in.get_bytes(elements * sizeof(float), found.emplace_back())) {
      return wrong;
    }
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<float> values(found[i].size() / sizeof(float));
    std::copy(found[i].begin(), found[i].end(), std::as_writable_bytes(std::span(values)).begin());
    arrays[i].array->write_all(values);
  }
  return {};
}

}  // namespace shoal::ops
