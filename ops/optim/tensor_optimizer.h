#pragma once

#include <span>
#include <vector>

#include "ops/norm.h"
#include "ops/optim/rule_optimizer.h"

namespace shoal::ops {

/// A rule whose rate differs from tensor to tensor by their norms. A space without a map counts as
/// one tensor. Parts of the space that are stepped must hold tensors whole (checked).
class TensorOptimizer : public RuleOptimizer {
 protected:
  /// As prepare(), with room for the sums. Errors: kDevice.
  Status prepare_tensors(Backend& backend, const FlatSpace& space, const RuleSetup& setup);
  /// The tensors in [begin, begin + count).
  [[nodiscard]] std::span<const FlatTensor> tensors_in(std::size_t begin, std::size_t count) const;
  /// Whether a tensor neither decays nor has a rate of its own.
  [[nodiscard]] bool plain(const FlatTensor& tensor) const { return skips_ && tensor.is_vector; }
  [[nodiscard]] SquareSums& sums() { return sums_; }
  [[nodiscard]] std::size_t largest() const { return largest_; }
  /// For views of one call of sums(), so that a step allocates nothing.
  std::vector<ConstTensorView> views_;

 private:
  bool skips_ = false;
  std::size_t largest_ = 0;
  std::vector<FlatTensor> tensors_;
  SquareSums sums_;
};

/// Elements of the largest tensor, and leaves of the sums over two arrays.
std::size_t largest_tensor(const FlatSpace& space);
std::size_t sum_leaves(const FlatSpace& space);

}  // namespace shoal::ops
