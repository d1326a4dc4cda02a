#include "tests/device/operations.h"

namespace shoal::ops::tests {
namespace {

struct TokenSizes {
  std::int64_t tokens;
  std::int64_t vocabulary;
  std::int64_t width;
};
constexpr TokenSizes kTokens[] = {{1, 1, 1}, {3, 5, 7}, {131, 65, 129}, {800, 65, 8}};

Operation embed() {
  Operation op{"embed", Promise::kBits, {}};
  for (const auto& s : kTokens) {
    op.cases.emplace_back([s](Trial& t) {
      const auto tokens = t.integers({s.tokens}, static_cast<std::uint64_t>(s.vocabulary));
      const auto weight = t.normal({s.vocabulary, s.width});
      const auto y = t.room({s.tokens, s.width});
      t.backend.embed(tokens, weight, y);
      t.result(y);
    });
  }
  return op;
}

Operation embed_backward() {
  Operation op{"embed_backward", Promise::kBits, {}};
  for (const auto& s : kTokens) {
    op.cases.emplace_back([s](Trial& t) {
      const auto tokens = t.integers({s.tokens}, static_cast<std::uint64_t>(s.vocabulary));
      const auto dy = t.normal({s.tokens, s.width});
      const auto dweight = t.room({s.vocabulary, s.width});
      t.backend.embed_backward(tokens, dy, dweight, Into::kReplace);
      t.result(dweight);
      t.backend.embed_backward(tokens, dy, dweight, Into::kAdd);
      t.result(dweight);
    });
  }
  return op;
}

struct AttentionSizes {
  std::int64_t batch;
  std::int64_t length;
  std::int64_t heads;
  std::int64_t head_width;
};
/// Below, at and above a tile of queries.
constexpr AttentionSizes kAttentions[] = {
    {1, 1, 1, 1}, {2, 7, 3, 5}, {1, 36, 1, 8}, {3, 37, 2, 4}, {2, 129, 4, 32}};

void attend(Trial& t, const AttentionSizes& s, bool back) {
  const Shape shape = {s.batch, s.length, s.heads * s.head_width};
  const Shape wide = {s.batch, s.length, 3 * s.heads * s.head_width};
  const auto heads = static_cast<std::size_t>(s.heads);
  const auto qkv = t.normal(wide);
  const auto y = t.room(shape);
  const auto log_sums = t.room({s.batch, s.heads, s.length});
  t.backend.attention(qkv, heads, y, log_sums);
  if (!back) {
    t.result(y);
    t.result(log_sums);
    return;
  }
  const auto dqkv = t.room(wide);
  t.backend.attention_backward(qkv, heads, y, log_sums, t.normal(shape), dqkv);
  t.result(dqkv);
}

Operation attention(const char* name, bool back) {
  Operation op{name, Promise::kNear, {}};
  for (const auto& s : kAttentions) {
    op.cases.emplace_back([s, back](Trial& t) { attend(t, s, back); });
  }
  return op;
}

struct RunSizes {
  std::int64_t batch;
  std::int64_t length;
  std::int64_t hidden;
};
constexpr RunSizes kRuns[] = {{1, 1, 1}, {1, 5, 3}, {3, 4, 17}, {10, 7, 129}, {2, 30, 64}};

/// Weights as a layer starts with: sums of `hidden` terms stay near 1.
TensorView recurrent_weight(Trial& t, std::int64_t wide, std::int64_t hidden) {
  const auto weight = t.normal({wide, hidden});
  t.backend.scale(weight, 1.0 / 16);
  return weight;
}

void lstm(Trial& t, const RunSizes& s, bool with_bias, bool back) {
  const std::int64_t wide = 4 * s.hidden;
  const Shape hidden = {s.batch, s.length, s.hidden};
  LstmForward run;
  run.gates = t.normal({s.batch, s.length, wide});
  run.weight = recurrent_weight(t, wide, s.hidden);
  run.bias_input = with_bias ? t.normal({wide}) : TensorView();
  run.bias_hidden = with_bias ? t.normal({wide}) : TensorView();
  run.h = t.room(hidden);
  run.c = t.room(hidden);
  t.backend.lstm(run);
  if (!back) {
    t.result(run.gates);
    t.result(run.h);
    t.result(run.c);
    return;
  }
  LstmBackward pass;
  pass.gates = run.gates;
  pass.weight = run.weight;
  pass.c = run.c;
  pass.dh = t.normal(hidden);
  pass.dgates = t.room({s.batch, s.length, wide});
  pass.carry = t.room({2, s.batch, s.hidden});
  t.backend.lstm_backward(pass);
  t.result(pass.dgates);
}

void gru(Trial& t, const RunSizes& s, bool with_bias, bool back) {
  const std::int64_t wide = 3 * s.hidden;
  const Shape hidden = {s.batch, s.length, s.hidden};
  GruForward run;
  run.gates = t.normal({s.batch, s.length, wide});
  run.weight = recurrent_weight(t, wide, s.hidden);
  run.bias_input = with_bias ? t.normal({wide}) : TensorView();
  run.bias_hidden = with_bias ? t.normal({wide}) : TensorView();
  run.h = t.room(hidden);
  run.hidden_n = t.room(hidden);
  run.recurrent = t.room({s.batch, wide});
  t.backend.gru(run);
  if (!back) {
    t.result(run.gates);
    t.result(run.h);
    t.result(run.hidden_n);
    return;
  }
  GruBackward pass;
  pass.gates = run.gates;
  pass.weight = run.weight;
  pass.h = run.h;
  pass.hidden_n = run.hidden_n;
  pass.dh = t.normal(hidden);
  pass.dgates = t.room({s.batch, s.length, wide});
  pass.drecurrent = t.room({s.batch, s.length, wide});
  pass.carry = t.room({2, s.batch, s.hidden});
  t.backend.gru_backward(pass);
  t.result(pass.dgates);
  t.result(pass.drecurrent);
}

using RunCase = void (*)(Trial&, const RunSizes&, bool, bool);

Operation recurrent(const char* name, RunCase run, bool back) {
  Operation op{name, Promise::kNear, {}};
  for (const auto& s : kRuns) {
    for (const bool with_bias : {false, true}) {
      op.cases.emplace_back([=](Trial& t) { run(t, s, with_bias, back); });
    }
  }
  return op;
}

Operation shift_time() {
  Operation op{"shift_time", Promise::kBits, {}};
  for (const auto& s : kRuns) {
    op.cases.emplace_back([s](Trial& t) {
      const auto x = t.normal({s.batch, s.length, s.hidden});
      const auto y = t.room({s.batch, s.length, s.hidden});
      t.backend.shift_time(x, y);
      t.result(y);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> sequence_operations() {
  return {embed(),
          embed_backward(),
          attention("attention", false),
          attention("attention_backward", true),
          recurrent("lstm", &lstm, false),
          recurrent("lstm_backward", &lstm, true),
          recurrent("gru", &gru, false),
          recurrent("gru_backward", &gru, true),
          shift_time()};
}

}  // namespace shoal::ops::tests
