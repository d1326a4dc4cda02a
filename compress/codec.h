#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/bytes.h"
#include "ops/base/options.h"
#include "ops/base/result.h"
#include "ops/parameters.h"

namespace shoal::compress {

enum class StateKind {
  kNone,
  kPrivate,    ///< a peer's own, checkpointed, kept by its Carry (DGC's velocity)
  kReplicated  ///< the same on all peers, hashed, given to joiners (PowerSGD's Q)
};

/// What a codec promises; conformance tests hold each entry of the registry to it.
struct Properties {
  std::uint8_t wire_id = 0;  ///< never reused
  int phases = 1;            ///< exchanges of a round: 1, or 2 as PowerSGD
  StateKind state = StateKind::kNone;
  bool whole_tensor = false;  ///< its granule is a whole tensor, not kGranule elements
  bool summable = false;      ///< encode(x) + encode(y) on the wire decodes to x + y
  bool lossless = false;      ///< decode(encode(x)) == x to the bit
  bool deterministic = true;  ///< no random rounding
  bool unbiased = false;      ///< E[decode(encode(x))] == x
  double contraction = 0;     ///< delta of |C(x)-x|^2 <= (1-delta)|x|^2; 0 when none holds
  float momentum = 0;         ///< of a sender's velocity, which its carry adds up (DGC)
  float carry_decay = 1;      ///< what is left of a carry after a round (DeMo)
};

class State;

/// What encoders and decoders may know beside numbers and bytes. A random choice is drawn from
/// (run_seed, round, granule) and, where senders must not choose alike, `sender`, so that a replay
/// gives the same bytes.
struct CodecContext {
  std::uint64_t run_seed = 0;
  std::uint64_t round = 0;
  std::uint64_t granule = 0;     ///< global index of the granule at hand, the first of a tensor
  std::uint64_t sender = 0;      ///< whose encoding it is; 0: an answer, whoever owns the part
  std::size_t rows = 1;          ///< of a whole tensor as a matrix: its first dimension
  const State* state = nullptr;  ///< the replicated state of this round, if the codec has one
};

/// Replicated state of a codec: the same on all peers, a function of the answers of the rounds so
/// far. `save`/`load` are what checkpoints and joiners get.
class State {
 public:
  virtual ~State() = default;
  [[nodiscard]] virtual std::unique_ptr<State> clone() const = 0;
  /// Takes in the answer for `granules`, as decode_granules() would read it; once for every part of
  /// a round. Errors: kBadFrame.
  [[nodiscard]] virtual Status advance(Range granules, const CodecContext& context,
                                       ByteSpan answer) = 0;
  virtual void save(ByteWriter& out) const = 0;
  /// Errors: kData for another model's state or a short one.
  [[nodiscard]] virtual Status load(ByteReader& in) = 0;
};

/// Floats to bytes to floats, one granule (<= kGranule elements) at a time, or one whole tensor
/// where a codec needs it, so that bytes do not depend on who owns a part. An encoding says its own
/// length. Objects without state: that lies in `State` and `Carry`.
/// Threads: const methods may run on several threads at once.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual const Properties& properties() const = 0;
  /// Largest encoding of `elements` elements, bytes; of a whole tensor with so many rows.
  [[nodiscard]] virtual std::size_t bytes_max(std::size_t elements, std::size_t rows) const = 0;
  /// The replicated state before the first round; null when the codec has none.
  [[nodiscard]] virtual std::unique_ptr<State> make_state(const ParamMap& map,
                                                          std::uint64_t run_seed) const;

  /// Appends the encoding of `x` (1..kGranule elements, or a tensor) to `out`.
  /// Errors: kData when `x` holds NaN or Inf, with the index of the first.
  [[nodiscard]] virtual Status encode(std::span<const float> x, const CodecContext& context,
                                      ByteWriter& out) const = 0;

  /// Reads `acc.size()` elements from `in` and does acc[i] += scale * x[i] in fp32, product rounded
  /// before the sum (no fused multiply-add).
  /// Errors: kBadFrame on anything an honest encoder would not write, NaN and Inf among them; `acc`
  /// may then be partly changed. Safe on hostile bytes.
  [[nodiscard]] virtual Status decode_add(ByteReader& in, const CodecContext& context, float scale,
                                          std::span<float> acc) const = 0;
};

/// One line of the registry.
struct CodecEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Codec> (*make)(const Options& options);
  /// What no spec can say of the options, asked before `make`; null when there is nothing.
  /// Errors: kConfig.
  Status (*check)(const Options& options) = nullptr;
};

/// Every codec there is, in order of wire id.
const std::vector<CodecEntry>& registry();

/// Errors: kConfig with the nearest name.
Result<std::unique_ptr<Codec>> make_codec(std::string_view name, const Options& options);

/// Any codec by the id that travels on the wire, with options that a decoder needs none of
/// (an encoding is self-contained). Null for an unknown id.
const Codec* codec_by_wire_id(std::uint8_t wire_id);

/// The name in the registry; empty for an unknown id.
std::string codec_name(std::uint8_t wire_id);

/// What is encoded at once: one granule, or all granules of a tensor.
struct Unit {
  const Codec* codec = nullptr;  ///< fp32 where small tensors are packed
  Range granules;
  std::size_t elements = 0;  ///< padding left out
  std::size_t rows = 1;
};

/// The unit that begins at granule `granule`; of a codec of whole tensors, the rest of the tensor.
Unit unit_at(const Codec& codec, const ParamMap& map, std::uint64_t granule);

/// Whether the flat space may be cut before `granule`: not within a tensor, where the codec takes
/// tensors whole.
bool may_cut(const Codec& codec, const ParamMap& map, std::uint64_t granule);

/// Encodes granules [granules.begin, granules.end) of a flat array that starts at granule
/// `granules.begin`; packed granules (small tensors) always as fp32, padding left out.
/// Requires: both ends are where the codec may be cut.
/// Errors: as Codec::encode, the message naming the parameter.
Status encode_granules(const Codec& codec, const ParamMap& map, Range granules,
                       std::span<const float> x, CodecContext context, ByteWriter& out);

/// Inverse: acc += scale * decoded, for the same granules. `acc` starts at granules.begin.
/// Errors: kBadFrame, also when bytes are left over or a tensor is cut.
Status decode_granules(const Codec& codec, const ParamMap& map, Range granules,
                       CodecContext context, ByteSpan bytes, float scale, std::span<float> acc);

/// Largest encoding of these granules, bytes.
std::size_t granules_bytes_max(const Codec& codec, const ParamMap& map, Range granules);

}  // namespace shoal::compress
