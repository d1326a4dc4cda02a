#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/backend.h"
#include "ops/base/bytes.h"
#include "ops/base/options.h"
#include "ops/flat.h"
#include "ops/parameters.h"

namespace shoal::ops {

/// Numbers of one step that all members must agree on: they travel in the commit, so that a libm
/// that differs between machines never reaches a parameter.
struct StepScalars {
  double lr = 0;
  double correction1 = 1;  ///< bias corrections of optimizers that have them
  double correction2 = 1;
};

/// 1 - beta^(step + 1): what a mean of `step + 1` numbers that starts at 0 falls short by. For
/// scalars() alone, since it takes libm's pow. Source: Kingma and Ba, arXiv 1412.6980, section 3.
double bias_correction(double beta, std::uint64_t step);

/// A rule that moves parameters along gradients. Exact arithmetic: fixed order, no fused
/// multiply-add, one body for host and device, so that equal inputs give equal bits everywhere.
/// Used inside (on a model's arrays) and outside (on the mean of a round).
/// Threads: one at a time.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// What the leader computes for a step (counted from 0) and sends. Pure.
  [[nodiscard]] virtual StepScalars scalars(double lr, std::uint64_t /*step*/) const {
    return {lr, 1, 1};
  }
  /// One step over the part `where` (local coordinates, inside the arrays; checked). Views lie on
  /// the optimizer's backend and are as long as its space.
  void step(const StepScalars& scalars, const Ranges& where, TensorView parameters,
            ConstTensorView gradients);
  /// One step over everything.
  void step(const StepScalars& scalars, FlatArray& parameters, const FlatArray& gradients);
  /// One step over everything, on host memory. Requires: the CPU backend (checked).
  void step(const StepScalars& scalars, std::span<float> parameters,
            std::span<const float> gradients);

  /// State arrays (momentum, ...) as flat arrays over the optimizer's space, with names for
  /// checkpoints ("momentum"). May be empty.
  struct StateArray {
    std::string name;
    FlatArray* array = nullptr;
  };
  [[nodiscard]] virtual std::vector<StateArray> state() = 0;
  /// Zeroes all state.
  virtual void reset() = 0;

  /// All state as bytes and back, to the bit. Errors: kData when it is another optimizer's.
  void save(ByteWriter& out);
  [[nodiscard]] Status load(ByteReader& in);

 protected:
  /// One step over elements [begin, begin + parameters.elements()) of the space; the views are cut
  /// to them.
  virtual void apply(const StepScalars& scalars, std::size_t begin, TensorView parameters,
                     ConstTensorView gradients) = 0;
};

/// One line of the registry.
struct OptimizerEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  /// What of it depends on tensors (decay_skips, norms) reads them off `space`.
  /// Errors: kDevice (state that does not fit in memory), kConfig (options that exclude each
  /// other).
  Result<std::unique_ptr<Optimizer>> (*make)(const Options& options, Backend& backend,
                                             const FlatSpace& space) = nullptr;
  /// State reals per parameter under these options, for the dry run of memory.
  std::size_t (*state_reals)(const Options& options) = nullptr;
  /// Float32 beside the state, for the dry run; null for none.
  std::size_t (*scratch_reals)(const FlatSpace& space) = nullptr;
  /// Option sets that conformance tests run beside the defaults.
  std::vector<std::vector<std::pair<std::string, OptionValue>>> examples;
};

const std::vector<OptimizerEntry>& optimizer_registry();

/// Errors: kConfig with the nearest name.
Result<const OptimizerEntry*> find_optimizer(std::string_view name);
/// Errors: kConfig with the nearest name, kDevice.
Result<std::unique_ptr<Optimizer>> make_optimizer(std::string_view name, const Options& options,
                                                  Backend& backend, const FlatSpace& space);

}  // namespace shoal::ops
