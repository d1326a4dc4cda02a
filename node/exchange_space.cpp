#include "node/exchange_space.h"

#include <algorithm>
#include <string>

namespace shoal::node {
namespace {

constexpr std::uint64_t kPieceMax = kGranule - 1;  // smaller than a granule: packed, so fp32

bool weighed(std::span<const compress::WeightRun> divisors, std::size_t flat) {
  const std::uint64_t granule = flat / kGranule;
  return std::any_of(divisors.begin(), divisors.end(), [granule](const compress::WeightRun& run) {
    return run.granules.begin <= granule && granule < run.granules.end && run.weight > 0;
  });
}

}  // namespace

Result<ExchangeSpace> ExchangeSpace::make(const ParamMap& model) {
  ExchangeSpace space;
  space.model_size_ = static_cast<std::size_t>(model.flat_size());
  for (const Param& param : model.params()) {
    SHOAL_TRY(space.map_.add(param));
  }
  std::vector<std::string> names;
  for (const Buffer& buffer : model.buffers()) {
    SHOAL_TRY(space.map_.add_buffer(buffer));
    if (buffer.policy != BufferPolicy::kAverage) {
      continue;
    }
    for (std::uint64_t done = 0; done < buffer.elements; done += kPieceMax) {
      const std::uint64_t count = std::min(kPieceMax, buffer.elements - done);
      Param piece;
      piece.name = buffer.name + "#" + std::to_string(done);
      piece.shape = {static_cast<std::int64_t>(count)};
      names.push_back(piece.name);
      SHOAL_TRY(space.map_.add(std::move(piece)));
      space.pieces_.push_back(
          {static_cast<std::size_t>(buffer.offset + done), 0, static_cast<std::size_t>(count)});
    }
  }
  space.map_.seal();
  for (std::size_t i = 0; i < names.size(); ++i) {
    space.pieces_[i].flat = static_cast<std::size_t>(space.map_.find(names[i])->offset);
  }
  return space;
}

void ExchangeSpace::put(std::span<const float> buffers, std::vector<float>& x) const {
  SHOAL_CHECK(x.size() == model_size_, "a contribution is one over the model");
  x.resize(static_cast<std::size_t>(map_.flat_size()));
  for (const Piece& p : pieces_) {
    const auto from = buffers.subspan(p.buffer, p.count);
    std::copy(from.begin(), from.end(), x.begin() + static_cast<std::ptrdiff_t>(p.flat));
  }
}

void ExchangeSpace::take(std::vector<float>& values, std::span<const compress::WeightRun> divisors,
                         std::span<float> buffers) const {
  for (const Piece& p : pieces_) {
    const auto mean = std::span(values).subspan(p.flat, p.count);
    for (std::size_t i = 0; i < p.count; ++i) {
      if (weighed(divisors, p.flat + i)) {
        buffers[p.buffer + i] = mean[i];
      }
      mean[i] = 0;
    }
  }
  values.resize(model_size_);
}

}  // namespace shoal::node
