#pragma once

#include <cstdint>

namespace shoal::ops {

/// kGelu is x Phi(x), PyTorch's default; kGeluTanh is its approximation by tanh. kSlope is one only
/// on the way back, through an activation whose slope was kept.
enum class Activation : std::uint8_t {
  kNone,
  kRelu,
  kGelu,
  kGeluTanh,
  kSilu,
  kTanh,
  kSigmoid,
  kSlope
};

/// Whether the way back needs what went in; else what came out is enough.
constexpr bool keeps_input(Activation activation) {
  return activation == Activation::kGelu || activation == Activation::kGeluTanh ||
         activation == Activation::kSilu;
}

/// An activation as a type, for what is compiled once for each.
template <Activation kActivation>
struct ActivationTag {
  static constexpr Activation kValue = kActivation;
};

/// Calls call(ActivationTag<...>()) for the activation at hand.
template <typename Call>
auto dispatch(Activation activation, const Call& call) {
  switch (activation) {
    case Activation::kRelu:
      return call(ActivationTag<Activation::kRelu>());
    case Activation::kGelu:
      return call(ActivationTag<Activation::kGelu>());
    case Activation::kGeluTanh:
      return call(ActivationTag<Activation::kGeluTanh>());
    case Activation::kSilu:
      return call(ActivationTag<Activation::kSilu>());
    case Activation::kTanh:
      return call(ActivationTag<Activation::kTanh>());
    case Activation::kSigmoid:
      return call(ActivationTag<Activation::kSigmoid>());
    case Activation::kSlope:
      return call(ActivationTag<Activation::kSlope>());
    default:
      return call(ActivationTag<Activation::kNone>());
  }
}

}  // namespace shoal::ops
