#include "node/data/table_dataset.h"

#include <algorithm>

#include "ops/base/check.h"

namespace shoal::node {

void TableDataset::set_ports(ops::Shape input, ops::Port target, std::int64_t classes) {
  input_ = {input, false};
  target_ = target;
  classes_ = classes;
}

Status TableDataset::hold(Split split, std::span<const std::uint32_t> indices) {
  Part& part = this->part(split);
  SHOAL_ASSIGN(Held held, Held::make(indices, size(split), part.name));
  SHOAL_ASSIGN(std::vector<float> x, read(split, held));
  SHOAL_CHECK(x.size() == held.count() * input_.shape.elements(), "what is wanted is read");
  part.held = std::move(held);
  part.x = std::move(x);
  return {};
}

Status TableDataset::do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const {
  const Part& from = part(pick.split);
  SHOAL_TRY(from.held.check(pick.indices, from.name));
  const std::size_t features = input_.shape.elements();
  float* out = x.as<float>();
  for (const std::uint32_t index : pick.indices) {
    out = std::copy_n(from.x.data() + from.held.slot(index) * features, features, out);
  }
  if (target_.index) {
    std::int32_t* label = targets.as<std::int32_t>();
    for (const std::uint32_t index : pick.indices) {
      *label++ = from.labels[index];
    }
    return {};
  }
  const std::size_t width = target_.shape.elements();
  float* target = targets.as<float>();
  for (const std::uint32_t index : pick.indices) {
    target = std::copy_n(from.targets.data() + index * width, width, target);
  }
  return {};
}

}  // namespace shoal::node
