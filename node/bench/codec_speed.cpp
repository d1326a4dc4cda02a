#include "node/bench/codec_speed.h"

#include <cstring>

#include "compress/error_feedback.h"
#include "node/bench/median.h"

namespace shoal::node {

Result<CodecSpeed> time_codec(CodecTrial& trial, Duration least, const Clock& clock) {
  const auto& x = trial.x;
  std::vector<float> y(x.size());
  ByteWriter encoded;
  compress::Carry carry(*trial.map);
  carry.use(*trial.codec);
  const auto encode = [&] {
    encoded.truncate(0);
    return trial.encode(x, encoded);
  };
  const auto decode = [&] { return trial.decode(encoded.span(), y); };
  const auto with_residual = [&]() -> Status {
    SHOAL_TRY(encode());
    return carry.settle_included(*trial.codec, trial.context(), trial.all(), x, 1, encoded.span());
  };
  const auto copy = [&]() -> Status {
    std::memcpy(y.data(), x.data(), x.size() * sizeof(float));
    return {};
  };
  const double gigabytes = static_cast<double>(x.size()) * sizeof(float) / 1e9;
  const int rounds = trial.state ? 2 : 1;
  double encode_s = 0;
  double decode_s = 0;
  double residual_s = 0;
  double bytes = 0;
  for (int i = 0; i < rounds; ++i) {
    SHOAL_ASSIGN(const double one_encode_s, median_seconds(encode, least, clock));
    SHOAL_ASSIGN(const double one_decode_s, median_seconds(decode, least, clock));
    SHOAL_ASSIGN(const double one_residual_s, median_seconds(with_residual, least, clock));
    encode_s += one_encode_s;
    decode_s += one_decode_s;
    residual_s += one_residual_s;
    bytes += static_cast<double>(encoded.size());
    SHOAL_TRY(trial.advance(encoded.span()));
  }
  SHOAL_ASSIGN(const double copy_s, median_seconds(copy, least, clock));
  const double all = rounds * gigabytes;
  return CodecSpeed{all / encode_s, all / decode_s, all / residual_s, gigabytes / copy_s,
                    1e9 * all / bytes};
}

}  // namespace shoal::node
