#include "node/bench/codec_quality.h"

#include <algorithm>
#include <cmath>

#include "compress/error_feedback.h"

namespace shoal::node {
namespace {

template <typename Term>
double sum_over(std::size_t count, Term term) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += term(i);
  }
  return sum;
}

double square(double x) { return x * x; }

/// |sent + owed - given| / |given|.
Result<double> telescope(CodecTrial trial, int rounds) {
  compress::Carry carry(*trial.map);
  carry.use(*trial.codec);
  const std::size_t size = trial.x.size();
  std::vector<double> sent(size);
  std::vector<float> s(size);
  std::vector<float> y(size);
  for (int i = 0; i < rounds; ++i) {
    carry.contribution(1, trial.x, s);
    ByteWriter encoded;
    SHOAL_TRY(trial.encode(s, encoded));
    std::fill(y.begin(), y.end(), 0.0F);
    SHOAL_TRY(trial.decode(encoded.span(), y));
    std::transform(sent.begin(), sent.end(), y.begin(), sent.begin(), std::plus<>());
    SHOAL_TRY(
        carry.settle_included(*trial.codec, trial.context(), trial.all(), s, 1, encoded.span()));
    SHOAL_TRY(trial.advance(encoded.span()));
  }
  const auto given = [&](std::size_t j) { return rounds * static_cast<double>(trial.x[j]); };
  const double missing = sum_over(size, [&](std::size_t j) {
    return square(sent[j] + static_cast<double>(carry.values()[j]) - given(j));
  });
  const double all = sum_over(size, [&](std::size_t j) { return square(given(j)); });
  return all > 0 ? std::sqrt(missing / all) : std::sqrt(missing);
}

}  // namespace

Result<CodecQuality> judge_codec(CodecTrial trial, int rounds) {
  const auto& x = trial.x;
  ByteWriter encoded;
  SHOAL_TRY(trial.encode(x, encoded));
  std::vector<float> y(x.size());
  SHOAL_TRY(trial.decode(encoded.span(), y));
  CodecQuality quality;
  quality.bytes = encoded.size();
  quality.finite = std::all_of(y.begin(), y.end(), [](float v) { return std::isfinite(v); });
  const double norm = sum_over(x.size(), [&](std::size_t i) { return square(x[i]); });
  const double error =
      sum_over(x.size(), [&](std::size_t i) { return square(static_cast<double>(y[i]) - x[i]); });
  quality.relative_error = norm > 0 ? error / norm : error;
  const double bits = 8.0 * static_cast<double>(quality.bytes);
  quality.bits_a_value = bits / static_cast<double>(trial.map->parameter_count());
  const auto is_set = [](float v) { return v != 0; };
  const auto kept = std::count_if(y.begin(), y.end(), is_set);
  if (kept > 0 && 2 * kept < std::count_if(x.begin(), x.end(), is_set)) {
    quality.bits_a_kept_value = bits / static_cast<double>(kept);
  }
  const compress::Properties& p = trial.codec->properties();
  if (p.momentum == 0 && p.carry_decay == 1) {
    SHOAL_ASSIGN(quality.telescoping_error, telescope(std::move(trial), rounds));
  }
  return quality;
}

}  // namespace shoal::node
