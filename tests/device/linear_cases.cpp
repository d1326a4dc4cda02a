#include "ops/kernels/activation_kind.h"
#include "tests/device/operations.h"

// A linear layer as one operation: blocks of rows on the CPU, products elsewhere.
namespace shoal::ops::tests {
namespace {

struct Sizes {
  std::int64_t n, out, in;
};
constexpr Sizes kSizes[] = {{1, 1, 1}, {1, 10, 200}, {7, 1, 33}, {65, 129, 31}, {300, 128, 128}};
constexpr Activation kForward[] = {Activation::kNone, Activation::kRelu, Activation::kGelu,
                                   Activation::kSilu, Activation::kTanh};
constexpr Activation kBackward[] = {Activation::kNone, Activation::kRelu, Activation::kTanh,
                                    Activation::kSlope};

Operation linear() {
  Operation op{"linear", Promise::kNear, {}};
  for (const auto& s : kSizes) {
    for (const auto activation : kForward) {
      for (const int without : {0, 1, 2, 3}) {  // bit 0: no bias, bit 1: nothing added
        op.cases.emplace_back([=](Trial& t) {
          const auto x = t.normal({s.n, s.in});
          const auto weight = t.normal({s.out, s.in});
          const auto bias = (without & 1) == 0 ? t.normal({s.out}) : TensorView();
          const auto added = (without & 2) == 0 ? t.normal({s.n, s.out}) : TensorView();
          const auto y = t.room({s.n, s.out});
          const auto sum = keeps_input(activation) ? t.room({s.n, s.out}) : y;
          t.backend.linear({x, weight, bias, sum, y, activation, added});
          t.result(y);
          t.result(sum);
        });
      }
    }
  }
  return op;
}

/// Without one of the gradients each, then with all.
Operation linear_backward() {
  Operation op{"linear_backward", Promise::kNear, {}};
  for (const auto& s : kSizes) {
    for (const auto activation : kBackward) {
      for (const auto into : {Into::kReplace, Into::kAdd}) {
        for (const int without : {0, 1, 2, 3}) {
          op.cases.emplace_back([=](Trial& t) {
            const auto gradient = [&](int which, const Shape& shape) {
              if (which == without) {
                return TensorView();
              }
              return into == Into::kAdd ? t.normal(shape) : t.room(shape);
            };
            LinearBackward pass;
            pass.x = t.normal({s.n, s.in});
            pass.weight = t.normal({s.out, s.in});
            pass.kept = t.normal({s.n, s.out});
            pass.dy = t.normal({s.n, s.out});
            pass.dx = without == 1 ? TensorView() : t.room({s.n, s.in});
            pass.dweight = gradient(2, {s.out, s.in});
            pass.dbias = gradient(3, {s.out});
            pass.activation = activation;
            pass.into = into;
            t.backend.linear_backward(pass);
            t.result(pass.dy);
            for (const TensorView& result : {pass.dx, pass.dweight, pass.dbias}) {
              if (!result.empty()) {
                t.result(result);
              }
            }
          });
        }
      }
    }
  }
  return op;
}

}  // namespace

std::vector<Operation> linear_operations() { return {linear(), linear_backward()}; }

}  // namespace shoal::ops::tests
