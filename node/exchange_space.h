#pragma once

#include <span>
#include <vector>

#include "compress/error_feedback.h"
#include "ops/base/result.h"
#include "ops/parameters.h"

namespace shoal::node {

/// What a group exchanges of a model: its parameters, and behind them the averaged part of the
/// second array (running statistics of batch norm). Parameters keep their coordinates. Buffers go
/// in pieces smaller than a granule, which travel as fp32 whatever the codec, by value: a weighted
/// mean of values that each make sense makes sense, also of one that came a round late. Buffers to
/// copy are replicated with the state and never exchanged; local ones stay with their peer.
class ExchangeSpace {
 public:
  /// Errors: kConfig for buffers whose names collide with parameters.
  static Result<ExchangeSpace> make(const ParamMap& model);

  /// The space of GroupMean.
  [[nodiscard]] const ParamMap& map() const { return map_; }
  /// Whether a model has anything but parameters to exchange.
  [[nodiscard]] bool has_buffers() const { return !pieces_.empty(); }

  /// Makes a contribution of one over the model's flat array: `x` grows to map().flat_size().
  void put(std::span<const float> buffers, std::vector<float>& x) const;
  /// The way back from a mean: averaged buffers into `buffers`, but where nobody contributed;
  /// `values` shrinks to the model's flat array, padding zero.
  void take(std::vector<float>& values, std::span<const compress::WeightRun> divisors,
            std::span<float> buffers) const;

 private:
  struct Piece {
    std::size_t buffer = 0;  ///< coordinate in the second array
    std::size_t flat = 0;    ///< in the exchanged space
    std::size_t count = 0;
  };
  ParamMap map_;
  std::size_t model_size_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace shoal::node
