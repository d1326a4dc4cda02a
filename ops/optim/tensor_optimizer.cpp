#include "ops/optim/tensor_optimizer.h"

#include <algorithm>

namespace shoal::ops {
namespace {

std::vector<FlatTensor> tensors_of(const FlatSpace& space) {
  if (space.tensors().empty() && space.size() > 0) {
    return {{0, space.size(), false}};
  }
  return space.tensors();
}

}  // namespace

std::size_t largest_tensor(const FlatSpace& space) {
  std::size_t largest = 0;
  for (const auto& tensor : tensors_of(space)) {
    largest = std::max(largest, tensor.elements);
  }
  return largest;
}

std::size_t sum_leaves(const FlatSpace& space) {
  std::size_t leaves = 0;
  for (const auto& tensor : tensors_of(space)) {
    leaves += 2 * SquareSums::leaves(tensor.elements);
  }
  return leaves;
}

Status TensorOptimizer::prepare_tensors(Backend& backend, const FlatSpace& space,
                                        const RuleSetup& setup) {
  skips_ = setup.decay_skips;
  tensors_ = tensors_of(space);
  largest_ = largest_tensor(space);
  SHOAL_ASSIGN(sums_, SquareSums::make(backend, sum_leaves(space)));
  return prepare(backend, space, setup);
}

std::span<const FlatTensor> TensorOptimizer::tensors_in(std::size_t begin,
                                                        std::size_t count) const {
  const auto before = [](const FlatTensor& t, std::size_t x) { return t.begin < x; };
  const auto first = std::lower_bound(tensors_.begin(), tensors_.end(), begin, before);
  const auto last = std::lower_bound(first, tensors_.end(), begin + count, before);
  const bool cut_before =
      first != tensors_.begin() && (first - 1)->begin + (first - 1)->elements > begin;
  const bool cut_after = first != last && (last - 1)->begin + (last - 1)->elements > begin + count;
  SHOAL_CHECK(!cut_before && !cut_after, "a rule by tensors steps over whole tensors");
  return {first, last};
}

}  // namespace shoal::ops
