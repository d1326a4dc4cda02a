#include "node/bench/codec_speed.h"

#include <cstring>

#include "compress/error_feedback.h"
#include "node/bench/median.h"

namespace shoal::node {

Result<CodecSpeed> time_codec(const CodecTrial& trial, Duration least, const Clock& clock) {
  const auto& x = trial.x;
  std::vector<float> y(x.size());
  ByteWriter encoded;
  compress::Carry carry(*trial.map);
  const auto encode = [&] {
    encoded.truncate(0);
    return trial.encode(x, encoded);
  };
  const auto decode = [&] { return trial.decode(encoded.span(), y); };
  const auto with_residual = [&]() -> Status {
    SHOAL_TRY(encode());
    return carry.settle_included(*trial.codec, trial.context(), trial.all(), x, encoded.span());
  };
  const auto copy = [&]() -> Status {
    std::memcpy(y.data(), x.data(), x.size() * sizeof(float));
    return {};
  };
  SHOAL_ASSIGN(const double encode_s, median_seconds(encode, least, clock));
  SHOAL_ASSIGN(const double decode_s, median_seconds(decode, least, clock));
  SHOAL_ASSIGN(const double residual_s, median_seconds(with_residual, least, clock));
  SHOAL_ASSIGN(const double copy_s, median_seconds(copy, least, clock));
  const double gigabytes = static_cast<double>(x.size()) * sizeof(float) / 1e9;
  return CodecSpeed{gigabytes / encode_s, gigabytes / decode_s, gigabytes / residual_s,
                    gigabytes / copy_s, 1e9 * gigabytes / static_cast<double>(encoded.size())};
}

}  // namespace shoal::node
