#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compress/codec.h"
#include "compress/cost.h"

namespace shoal::comm {

/// A codec that may be chosen, and what it costs where it is used.
struct CodecOffer {
  std::string name;
  std::shared_ptr<const compress::Codec> codec;
  compress::CodecCost cost;
};

/// An encoding that is about to go over one link.
struct Outgoing {
  std::uint64_t elements = 0;
  double rate = 0;  ///< bytes/s the link gives it while all others go out too; 0: no bound known
  /// How often as many floats are decoded one after the other before the round is over, when all
  /// peers choose alike.
  double decodes = 1;
};

/// Which offer each encoding takes, and how long all of them will take together.
struct Picked {
  std::vector<std::size_t> offers;  ///< index into offers(), one an encoding
  double seconds = 0;
};

/// What a peer encodes with: one codec always, or for each link the one that ends soonest.
/// Cheap to copy.
class CodecChoice {
 public:
  /// Always this codec.
  explicit CodecChoice(std::shared_ptr<const compress::Codec> only);
  /// The first that is as good as any; put the most exact first. Requires: at least one, none with
  /// state or whole tensors.
  explicit CodecChoice(std::vector<CodecOffer> offers);

  [[nodiscard]] const std::vector<CodecOffer>& offers() const { return *offers_; }
  /// The first offer's codec: the only one where choice is none, as with replicated state.
  [[nodiscard]] const std::shared_ptr<const compress::Codec>& first() const {
    return offers_->front().codec;
  }
  [[nodiscard]] bool fixed() const { return offers_->size() == 1; }
  /// Whether nothing is ever lost.
  [[nodiscard]] bool lossless() const;

  /// Minimises sum over encodings of elements (encode + decodes x decode) + the longest of bytes /
  /// rate: one thread encodes all before they go out side by side, and decodes as much of others.
  /// Exact.
  /// Where all that can be saved is 2 % of `round_s`, what a whole round takes, or less, the first
  /// offer is taken for all; so too while that is not known (0). What was picked before stays while
  /// it saves 1 % and nothing else is 2 % better.
  /// Cost: offers^2 encodings^2 steps.
  [[nodiscard]] Picked pick(std::span<const Outgoing> encodings, const Picked& before,
                            double round_s) const;
  /// What the first offer would take for all of them.
  [[nodiscard]] double first_s(std::span<const Outgoing> encodings) const;

 private:
  [[nodiscard]] double seconds_of(std::span<const Outgoing> encodings,
                                  std::span<const std::size_t> offers) const;

  std::shared_ptr<const std::vector<CodecOffer>> offers_;
};

}  // namespace shoal::comm
