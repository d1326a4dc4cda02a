#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/round/norm_reference.h"
#include "comm/wire/message.h"
#include "compress/codec.h"

namespace shoal::comm {

/// One member's encoded sum for the part.
struct PartInput {
  std::uint16_t member = 0;
  std::uint8_t codec = 0;
  std::vector<compress::WeightRun> weights;
  Bytes encoded;
};

/// What an owner needs to reduce one part; owns its buffers, so that it may run on any thread.
struct ReduceTask {
  const ParamMap* map = nullptr;
  Range granules;
  std::vector<PartInput> inputs;       ///< in member order
  std::vector<std::uint16_t> skipped;  ///< members that had nothing to say
  std::vector<float> residual;         ///< the owner's, over `granules`; empty = zero
  std::shared_ptr<const compress::Codec> answer_codec;
  compress::CodecContext context;  ///< of the answer
  /// Contributions whose mean has a larger norm are refused; nothing: by no norm.
  std::optional<double> norm_bound;
};

struct RefusedInput {
  std::uint16_t member = 0;
  std::string reason;  ///< "not-finite", "bad-encoding", "absurd-norm", "zero-weight", "overflow"
  std::string sentence;
};

/// Either refusals (then there is no answer), or the answer.
struct Reduced {
  std::vector<RefusedInput> refused;
  std::vector<std::uint16_t> contributors;
  std::vector<std::uint16_t> skipped;  ///< the task's
  std::vector<compress::WeightRun> divisors;
  std::uint8_t codec = 0;  ///< of the answer
  Bytes encoded;
  std::vector<float> residual_after;  ///< what the encoding of the mean lost, over `granules`
  std::vector<double> norms;          ///< of the contributors' means
};

/// mean = (sum over members, in order, of decode(s_i)) / (sum of weights), per granule; 0 where the
/// weight is 0. Then encode(mean + residual). Exact arithmetic in a fixed order: sums in fp32, the
/// divisor in double and rounded to fp32 once.
Reduced reduce_part(const ReduceTask& task);

/// Decodes an answer into `out` (the part's floats, overwritten). Errors: kBadFrame.
Status decode_answer(const ParamMap& map, const Answer& answer,
                     const compress::CodecContext& context, const Bytes& encoded,
                     std::span<float> out);

}  // namespace shoal::comm
