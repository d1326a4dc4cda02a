#include "comm/zmq/rates.h"

#include <algorithm>

namespace shoal::comm {
namespace {

constexpr std::uint32_t kMagic = 0x636c6873;  // "shlc"
// Two frames: nine bytes of ZMTP and 33 of CURVE for each.
constexpr std::uint64_t kFramingBytes = 84;
constexpr std::size_t kChunkBytesMin = 2048;
// A burst of a very slow link still holds a chunk.
constexpr double kBurstBytesMin = 4096;
// No honest queue is longer; a sum of claims beyond it must not wrap.
constexpr std::uint64_t kCreditMax = 1ULL << 48U;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return std::min(a + std::min(b, kCreditMax), kCreditMax);
}

}  // namespace

std::size_t rated_chunk_bytes(std::uint64_t rate) {
  if (rate == 0) {
    return limits::kChunkBytesMax;
  }
  const double fits = static_cast<double>(rate) * seconds(limits::kChunkTime);
  return static_cast<std::size_t>(std::clamp(fits, static_cast<double>(kChunkBytesMin),
                                             static_cast<double>(limits::kChunkBytesMax)));
}

std::uint64_t frame_cost(std::uint64_t header_bytes, std::uint64_t chunk_bytes) {
  return header_bytes + chunk_bytes + kFramingBytes;
}

Bucket::Bucket(std::uint64_t rate)
    : rate_(static_cast<double>(rate)),
      chunk_bytes_(rated_chunk_bytes(rate)),
      most_(std::max(kBurstBytesMin, rate_ * seconds(limits::kInFlightTime))),
      held_(most_) {}

void Bucket::fill(TimePoint now) {
  const Duration since = now - filled_.value_or(now);
  filled_ = now;
  held_ = std::min(most_, held_ + rate_ * seconds(since));
}

double Bucket::needed(std::uint64_t bytes) const {
  return std::min(static_cast<double>(bytes), most_);
}

bool Bucket::take(TimePoint now, std::uint64_t bytes) {
  if (!bounded()) {
    return true;
  }
  fill(now);
  if (held_ < needed(bytes)) {
    return false;
  }
  held_ -= static_cast<double>(bytes);
  return true;
}

void Bucket::charge(TimePoint now, std::uint64_t bytes) {
  if (bounded()) {
    fill(now);
    held_ -= static_cast<double>(bytes);
  }
}

TimePoint Bucket::due(std::uint64_t bytes) const {
  const TimePoint from = filled_.value_or(TimePoint{});
  const double lacks = needed(bytes) - held_;
  // A nanosecond more than the division says, so that rounding leaves nothing to wait for.
  return bounded() && lacks > 0 ? from + from_seconds(lacks / rate_) + Duration{1} : from;
}

Bytes Credit::encode() const {
  ByteWriter out;
  out.put(kMagic);
  out.put(kind);
  out.put(bytes);
  return out.take_bytes();
}

std::optional<Credit> Credit::decode(ByteSpan frame) {
  ByteReader in(frame);
  std::uint32_t magic = 0;
  std::uint8_t kind = 0;
  Credit credit;
  if (!in.get(magic) || !in.get(kind) || !in.get(credit.bytes) || in.left() != 0 ||
      magic != kMagic || kind > static_cast<std::uint8_t>(Kind::kGrant)) {
    return std::nullopt;
  }
  credit.kind = Kind{kind};
  return credit;
}

std::uint64_t LinkCredit::lacks(std::uint64_t cost, std::uint64_t behind) const {
  const std::uint64_t need = cost + behind;
  if (!rate || *rate == 0 || granted + asked >= need) {
    return 0;
  }
  // And a little for the headers of what waits behind, so that not every chunk asks again.
  const std::uint64_t lack = need - granted - asked;
  return lack + lack / 16;
}

void LinkCredit::on(const Credit& credit) {
  if (credit.kind == Credit::Kind::kAsk) {
    wanted = sum(wanted, credit.bytes);
  } else {
    granted = sum(granted, credit.bytes);
    asked -= std::min(asked, credit.bytes);
  }
}

}  // namespace shoal::comm
