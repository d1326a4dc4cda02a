#include "tests/device/operations.h"

namespace shoal::ops::tests {
namespace {

std::int64_t whole(std::size_t n) { return static_cast<std::int64_t>(n); }

/// Layer norm, group norm of one and of several groups, rows of one value.
constexpr NormSizes kRowSizes[] = {
    {1, 1, 1, 1, 1e-5},  {1, 17, 1, 1, 1e-5},     {5, 4, 1, 1, 1e-5},    {131, 65, 1, 1, 1e-5},
    {6, 20, 3, 5, 1e-5}, {300, 129, 2, 43, 1e-5}, {64, 384, 1, 1, 1e-5}, {4, 9, 4, 9, 1e-5}};
constexpr BatchNormSizes kBatchSizes[] = {{1, 1, 1, 1e-5},   {2, 1, 1, 1e-5},    {5, 3, 7, 1e-5},
                                          {1, 130, 9, 1e-5}, {16, 131, 1, 1e-5}, {9, 6, 196, 1e-5}};

Shape row_shape(const NormSizes& s) { return {whole(s.rows), whole(s.cols)}; }
Shape row_channels(const NormSizes& s) { return {whole(s.groups * (s.cols / s.inner))}; }
Shape batch_shape(const BatchNormSizes& s) {
  return {whole(s.batch), whole(s.channels), whole(s.inner)};
}
Shape channel_shape(const BatchNormSizes& s) { return {whole(s.channels)}; }

Operation row_norm() {
  Operation op{"row_norm", Promise::kBodies, {}};
  for (const auto& s : kRowSizes) {
    for (const bool centered : {false, true}) {
      op.cases.emplace_back([s, centered](Trial& t) {
        const auto x = t.normal(row_shape(s));
        const auto weight = t.normal(row_channels(s));
        const auto bias = centered ? t.normal(row_channels(s)) : TensorView();
        const auto y = t.room(row_shape(s));
        const auto stats = t.room({whole(s.rows), 2});
        t.backend.row_norm(s, centered, x, weight, bias, y, stats);
        t.result(y);
        t.result(stats);
      });
    }
  }
  return op;
}

/// Gradients to put or to add to, as `add` says.
NormOps::Backward wanted(Trial& t, const Shape& x, const Shape& channels, bool add) {
  NormOps::Backward pass;
  pass.x = t.normal(x);
  pass.weight = t.normal(channels);
  pass.dy = t.normal(x);
  pass.dx = t.room(x);
  pass.dweight = add ? t.normal(channels) : t.room(channels);
  pass.dbias = add ? t.normal(channels) : t.room(channels);
  pass.into = add ? Into::kAdd : Into::kReplace;
  return pass;
}

void gradients(Trial& t, const NormOps::Backward& pass) {
  t.result(pass.dx);
  t.result(pass.dweight);
  t.result(pass.dbias);
}

Operation row_norm_backward() {
  Operation op{"row_norm_backward", Promise::kBodies, {}};
  for (const auto& s : kRowSizes) {
    for (const bool add : {false, true}) {
      op.cases.emplace_back([s, add](Trial& t) {
        const bool centered = !add;
        auto pass = wanted(t, row_shape(s), row_channels(s), add);
        const auto stats = t.room({whole(s.rows), 2});
        t.backend.row_norm(s, centered, pass.x, pass.weight, {}, pass.dx, stats);
        pass.stats = stats;
        t.backend.row_norm_backward(s, centered, pass);
        gradients(t, pass);
      });
    }
  }
  return op;
}

Operation batch_stats() {
  Operation op{"batch_stats", Promise::kBodies, {}};
  for (const auto& s : kBatchSizes) {
    op.cases.emplace_back([s](Trial& t) {
      const auto x = t.normal(batch_shape(s));
      const auto stats = t.room({whole(s.channels), 3});
      t.backend.batch_stats(s, x, stats);
      t.result(stats);
    });
  }
  return op;
}

Operation running_stats() {
  Operation op{"running_stats", Promise::kBodies, {}};
  for (const auto& s : kBatchSizes) {
    op.cases.emplace_back([s](Trial& t) {
      const auto mean = t.normal(channel_shape(s));
      const auto variance = t.positive(channel_shape(s));
      const auto stats = t.room({whole(s.channels), 3});
      t.backend.running_stats(s.epsilon, mean, variance, stats);
      t.result(stats);
    });
  }
  return op;
}

Operation batch_norm() {
  Operation op{"batch_norm", Promise::kBodies, {}};
  for (const auto& s : kBatchSizes) {
    op.cases.emplace_back([s](Trial& t) {
      const auto x = t.normal(batch_shape(s));
      const auto stats = t.positive({whole(s.channels), 3});
      const auto weight = t.normal(channel_shape(s));
      const auto bias = t.normal(channel_shape(s));
      const auto y = t.room(batch_shape(s));
      t.backend.batch_norm(s, x, stats, weight, bias, y);
      t.result(y);
    });
  }
  return op;
}

Operation batch_norm_backward() {
  Operation op{"batch_norm_backward", Promise::kBodies, {}};
  for (const auto& s : kBatchSizes) {
    for (const bool fixed : {false, true}) {
      op.cases.emplace_back([s, fixed](Trial& t) {
        auto pass = wanted(t, batch_shape(s), channel_shape(s), fixed);
        const auto stats = t.room({whole(s.channels), 3});
        t.backend.batch_stats(s, pass.x, stats);
        pass.stats = stats;
        t.backend.batch_norm_backward(s, fixed, pass, t.room({whole(s.channels), 2}));
        gradients(t, pass);
      });
    }
  }
  return op;
}

Operation running_update() {
  Operation op{"running_update", Promise::kBodies, {}};
  for (const auto& s : kBatchSizes) {
    op.cases.emplace_back([s](Trial& t) {
      const auto stats = t.positive({whole(s.channels), 3});
      const auto mean = t.normal(channel_shape(s));
      const auto variance = t.positive(channel_shape(s));
      const auto batches = t.positive({1});
      t.backend.running_update(s, 0.1, stats, mean, variance, batches);
      t.result(mean);
      t.result(variance);
      t.result(batches);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> norm_operations() {
  return {row_norm(),   row_norm_backward(),   batch_stats(),   running_stats(),
          batch_norm(), batch_norm_backward(), running_update()};
}

}  // namespace shoal::ops::tests
