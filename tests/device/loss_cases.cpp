#include "tests/device/operations.h"

namespace shoal::ops::tests {
namespace {

Operation softmax_cross_entropy() {
  Operation op{"softmax_cross_entropy", Promise::kBodies, {}};
  for (const auto& m : kMatrices) {
    for (const bool smooth : {false, true}) {
      op.cases.emplace_back([m, smooth](Trial& t) {
        CrossEntropy options;
        options.scale = 0.5;
        options.smoothing = smooth ? 0.1 : 0;
        options.ignores = smooth;
        options.ignored = 0;
        const auto logits = t.normal({m.rows, m.cols});
        const auto labels = t.integers({m.rows}, static_cast<std::uint64_t>(m.cols));
        const auto dlogits = t.room({m.rows, m.cols});
        const auto loss = t.room({m.rows});
        const auto correct = t.integer_room({m.rows});
        t.backend.softmax_cross_entropy(logits, labels, options, dlogits, loss, correct);
        t.result(dlogits);
        t.result(loss);
        t.result(correct);
        // In place, and without a gradient.
        t.backend.softmax_cross_entropy(logits, labels, options, {}, loss, correct);
        t.result(loss);
        t.backend.softmax_cross_entropy(logits, labels, options, logits, loss, correct);
        t.result(logits);
      });
    }
  }
  return op;
}

Operation squared_error() {
  Operation op{"squared_error", Promise::kBodies, {}};
  for (const auto& m : kMatrices) {
    op.cases.emplace_back([m](Trial& t) {
      const auto output = t.normal({m.rows, m.cols});
      const auto targets = t.normal({m.rows, m.cols});
      const auto doutput = t.room({m.rows, m.cols});
      const auto loss = t.room({m.rows});
      t.backend.squared_error(output, targets, 0.25, doutput, loss);
      t.result(doutput);
      t.result(loss);
      t.backend.squared_error(output, targets, 0.25, {}, loss);
      t.result(loss);
    });
  }
  return op;
}

Operation binary_cross_entropy() {
  Operation op{"binary_cross_entropy", Promise::kBodies, {}};
  for (const auto& m : kMatrices) {
    op.cases.emplace_back([m](Trial& t) {
      const auto logits = t.normal({m.rows, m.cols});
      const auto targets = t.positive({m.rows, m.cols});
      const auto dlogits = t.room({m.rows, m.cols});
      const auto loss = t.room({m.rows});
      const auto correct = t.integer_room({m.rows});
      t.backend.binary_cross_entropy(logits, targets, 0.25, dlogits, loss, correct);
      t.result(dlogits);
      t.result(loss);
      t.result(correct);
      t.backend.binary_cross_entropy(logits, targets, 0.25, {}, loss, correct);
      t.result(loss);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> loss_operations() {
  return {softmax_cross_entropy(), squared_error(), binary_cross_entropy()};
}

}  // namespace shoal::ops::tests
