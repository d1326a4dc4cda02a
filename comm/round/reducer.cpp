#include "comm/round/reducer.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace shoal::comm {
namespace {

bool all_finite(std::span<const float> x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

double weight_of(const PartInput& input) {
  double total = 0;
  for (const auto& run : input.weights) {
    total += run.weight * static_cast<double>(run.granules.size());
  }
  return total;
}

/// Norm of the sum over its weight, granule by granule: what an honest member's mean would weigh.
/// Infinite when a granule without weight holds numbers.
double norm_of_mean(std::span<const float> sum, const PartInput& input, Range granules) {
  double square = 0;
  for (const auto& run : input.weights) {
    const auto begin = static_cast<std::size_t>((run.granules.begin - granules.begin) * kGranule);
    double run_square = 0;
    for (const float v :
         sum.subspan(begin, static_cast<std::size_t>(run.granules.size() * kGranule))) {
      run_square += static_cast<double>(v) * static_cast<double>(v);
    }
    square += run_square > 0 ? run_square / (run.weight * run.weight) : 0;
  }
  return std::sqrt(square);
}

void add_divisors(std::vector<double>& divisors, const PartInput& input, Range granules) {
  for (const auto& run : input.weights) {
    for (std::uint64_t g = run.granules.begin; g < run.granules.end; ++g) {
      divisors[static_cast<std::size_t>(g - granules.begin)] += run.weight;
    }
  }
}

std::vector<compress::WeightRun> to_runs(const std::vector<double>& divisors, Range granules) {
  std::vector<compress::WeightRun> runs;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const std::uint64_t g = granules.begin + i;
    if (!runs.empty() && runs.back().weight == divisors[i]) {
      runs.back().granules.end = g + 1;
    } else {
      runs.push_back({{g, g + 1}, divisors[i]});
    }
  }
  return runs;
}

/// Decodes one input onto `sum` through `scratch`; says why not, if not.
std::optional<RefusedInput> take(const ReduceTask& task, const PartInput& input,
                                 std::span<float> scratch) {
  if (!(weight_of(input) > 0)) {
    return RefusedInput{input.member, "zero-weight", "its weight is zero"};
  }
  const auto* codec = compress::codec_by_wire_id(input.codec);
  if (codec == nullptr) {
    return RefusedInput{input.member, "bad-encoding", "its codec is unknown here"};
  }
  std::fill(scratch.begin(), scratch.end(), 0.0F);
  const auto status = compress::decode_granules(*codec, *task.map, task.granules, task.context,
                                                input.encoded.span(), 1, scratch);
  if (!status.ok()) {
    return RefusedInput{input.member, "bad-encoding", status.error().message};
  }
  if (!all_finite(scratch)) {
    return RefusedInput{input.member, "not-finite", "it holds NaN or Inf"};
  }
  return std::nullopt;
}

RefusedInput absurd(const PartInput& input, double norm, double bound) {
  std::ostringstream sentence;
  sentence << "its mean has the norm " << norm << ", and " << bound
           << " is the most to be believed";
  return {input.member, "absurd-norm", sentence.str()};
}

void divide(std::span<float> sum, const std::vector<double>& divisors) {
  for (std::size_t g = 0; g < divisors.size(); ++g) {
    const auto divisor = static_cast<float>(divisors[g]);
    for (float& v : sum.subspan(g * kGranule, kGranule)) {
      v = divisor > 0 ? v / divisor : 0.0F;
    }
  }
}

}  // namespace

Reduced reduce_part(const ReduceTask& task) {
  Reduced out;
  out.skipped = task.skipped;
  const auto elements = static_cast<std::size_t>(task.granules.size() * kGranule);
  std::vector<float> sum(elements, 0.0F);
  std::vector<float> scratch(elements);
  std::vector<double> divisors(static_cast<std::size_t>(task.granules.size()), 0.0);
  for (const auto& input : task.inputs) {
    if (auto refused = take(task, input, scratch)) {
      out.refused.push_back(std::move(*refused));
      continue;
    }
    const double norm = norm_of_mean(scratch, input, task.granules);
    if (task.norm_bound && !(norm <= *task.norm_bound)) {
      out.refused.push_back(absurd(input, norm, *task.norm_bound));
      continue;
    }
    out.norms.push_back(norm);
    for (std::size_t i = 0; i < elements; ++i) {
      sum[i] += scratch[i];
    }
    add_divisors(divisors, input, task.granules);
    out.contributors.push_back(input.member);
  }
  if (!out.refused.empty()) {
    return out;
  }
  divide(sum, divisors);
  for (std::size_t i = 0; i < task.residual.size(); ++i) {
    sum[i] += task.residual[i];
  }
  ByteWriter w;
  const auto status =
      compress::encode_granules(*task.answer_codec, *task.map, task.granules, sum, task.context, w);
  if (!status.ok()) {  // finite inputs whose sum overflowed: nobody can be named, all are refused
    for (const auto& input : task.inputs) {
      out.refused.push_back({input.member, "overflow", "the group's sum overflows"});
    }
    return out;
  }
  out.encoded = w.take_bytes();
  out.divisors = to_runs(divisors, task.granules);
  std::fill(scratch.begin(), scratch.end(), 0.0F);
  const auto back = compress::decode_granules(*task.answer_codec, *task.map, task.granules,
                                              task.context, out.encoded.span(), 1, scratch);
  SHOAL_CHECK(back.ok(), "a codec decodes what it encoded");
  for (std::size_t i = 0; i < elements; ++i) {
    sum[i] -= scratch[i];
  }
  out.residual_after = std::move(sum);
  return out;
}

Status decode_answer(const ParamMap& map, const Answer& answer,
                     const compress::CodecContext& context, const Bytes& encoded,
                     std::span<float> out) {
  const auto* codec = compress::codec_by_wire_id(answer.codec);
  if (codec == nullptr) {
    return bad_frame("an answer uses codec " + std::to_string(answer.codec) +
                     ", unknown to this version");
  }
  std::fill(out.begin(), out.end(), 0.0F);
  SHOAL_TRY(
      compress::decode_granules(*codec, map, answer.granules, context, encoded.span(), 1, out));
  return all_finite(out) ? Status{} : Status{bad_frame("an answer holds NaN or Inf")};
}

}  // namespace shoal::comm
