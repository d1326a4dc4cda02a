#include "tests/device/operations.h"

namespace shoal::ops::tests {
namespace {

constexpr Activation kActivations[] = {Activation::kNone,     Activation::kRelu, Activation::kGelu,
                                       Activation::kGeluTanh, Activation::kSilu, Activation::kTanh,
                                       Activation::kSigmoid};

Operation activate() {
  Operation op{"activate", Promise::kBits, {}};
  for (const auto activation : kActivations) {
    for (const auto n : kLengths) {
      op.cases.emplace_back([=](Trial& t) {
        const auto x = t.normal({n});
        const auto y = t.room({n});
        t.backend.activate(x, y, activation);
        t.result(y);
      });
    }
  }
  return op;
}

Operation bias_activation() {
  Operation op{"bias_activation", Promise::kBits, {}};
  for (const auto activation : kActivations) {
    for (const auto& m : kMatrices) {
      op.cases.emplace_back([=](Trial& t) {
        const auto x = t.normal({m.rows, m.cols});
        const auto bias = t.normal({m.cols});
        const auto y = t.room({m.rows, m.cols});
        t.backend.bias_activation(x, bias, y, activation);
        t.result(x);
        t.result(y);
        t.backend.bias_activation(y, {}, activation);
        t.result(y);
      });
    }
  }
  return op;
}

Operation bias_activation_backward() {
  Operation op{"bias_activation_backward", Promise::kBits, {}};
  for (const auto activation : kActivations) {
    for (const auto& m : kMatrices) {
      op.cases.emplace_back([=](Trial& t) {
        const auto kept = t.normal({m.rows, m.cols});
        const auto dy = t.normal({m.rows, m.cols});
        const auto dbias = t.room({m.cols});
        t.backend.bias_activation_backward(kept, dy, dbias, activation, Into::kReplace);
        t.result(dy);
        t.result(dbias);
        t.backend.bias_activation_backward(kept, dy, dbias, activation, Into::kAdd);
        t.result(dbias);
        t.backend.bias_activation_backward(kept, dy, {}, activation, Into::kReplace);
        t.result(dy);
      });
    }
  }
  return op;
}

Operation add() {
  Operation op{"add", Promise::kBits, {}};
  for (const auto activation : kActivations) {
    for (const auto n : kLengths) {
      op.cases.emplace_back([=](Trial& t) {
        const auto a = t.normal({n});
        const auto b = t.normal({n});
        const auto y = t.room({n});
        t.backend.add(a, b, y, activation);
        t.result(y);
        t.backend.add(a, b, a, activation);
        t.result(a);
      });
    }
  }
  return op;
}

Operation dropout() {
  Operation op{"dropout", Promise::kBits, {}};
  for (const auto n : kLengths) {
    op.cases.emplace_back([n](Trial& t) {
      const auto x = t.normal({n});
      const auto y = t.room({n});
      t.backend.dropout(x, y, {7, 9, 0.3});
      t.result(y);
      t.backend.dropout(x, x, {7, 10, 0.0});
      t.result(x);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> pointwise_operations() {
  return {activate(), bias_activation(), bias_activation_backward(), add(), dropout()};
}

}  // namespace shoal::ops::tests
