#pragma once

#include <string>

#include "ops/backend.h"
#include "ops/layer.h"

namespace shoal::ops {

/// Layer, group and RMS norm, which differ in what a row is.
class RowNormLayer : public Layer {
 public:
  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override;
  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override;
  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override;

 protected:
  RowNormLayer(bool centered, bool with_bias) : centered_(centered), with_bias_(with_bias) {}
  /// Errors: kConfig, what does not fit. Requires: numbers, at least one.
  [[nodiscard]] virtual Status check(const Shape& sample) const = 0;
  /// Of x with its batch. Requires: a shape that passed check().
  [[nodiscard]] virtual NormSizes sizes(const Shape& x) const = 0;

 private:
  bool centered_;
  bool with_bias_;
};

/// The option "eps".
OptionSpec epsilon_option();

}  // namespace shoal::ops
