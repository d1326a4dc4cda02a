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
  kPrivate,    ///< a peer's own, checkpointed (a residual, DGC's momentum)
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
};

/// What an encoder may know beside the numbers. A random choice is drawn from
/// (run_seed, round, granule) alone, so that a replay gives the same bytes.
struct EncodeContext {
  std::uint64_t run_seed = 0;
  std::uint64_t round = 0;
  std::uint64_t granule = 0;  ///< global index of the granule at hand
};

/// Opaque per-codec state (StateKind says whose); `save`/`load` are what checkpoints hold.
class State {
 public:
  virtual ~State() = default;
  virtual void save(ByteWriter& out) const = 0;
  [[nodiscard]] virtual Status load(ByteReader& in) = 0;
};

/// Floats to bytes to floats, one granule (<= kGranule elements) at a time, so that bytes do not
/// depend on who owns a part. An encoded granule says its own length. Stateless objects: all
/// state lies in `State`. Threads: const methods may run on several threads at once.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual const Properties& properties() const = 0;
  /// Largest encoding of `elements` elements, bytes.
  [[nodiscard]] virtual std::size_t bytes_max(std::size_t elements) const = 0;
  [[nodiscard]] virtual std::unique_ptr<State> make_state(const ParamMap& map) const;

  /// Appends the encoding of `x` (1..kGranule elements) to `out`.
  /// Errors: kData when `x` holds NaN or Inf, with the index of the first.
  [[nodiscard]] virtual Status encode(std::span<const float> x, const EncodeContext& context,
                                      State* state, ByteWriter& out) const = 0;

  /// Reads one granule of `acc.size()` elements from `in` and does acc[i] += scale * x[i] in fp32,
  /// product rounded before the sum (no fused multiply-add).
  /// Errors: kBadFrame on anything an honest encoder would not write, NaN and Inf among them; `acc`
  /// may then be partly changed. Safe on hostile bytes.
  [[nodiscard]] virtual Status decode_add(ByteReader& in, float scale,
                                          std::span<float> acc) const = 0;
};

/// One line of the registry.
struct CodecEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Codec> (*make)(const Options& options);
};

/// Every codec there is, in order of wire id.
const std::vector<CodecEntry>& registry();

/// Errors: kConfig with the nearest name.
Result<std::unique_ptr<Codec>> make_codec(std::string_view name, const Options& options);

/// Any codec by the id that travels on the wire, with options that a decoder needs none of
/// (an encoding is self-contained). Null for an unknown id.
const Codec* codec_by_wire_id(std::uint8_t wire_id);

/// What granule `granule` is encoded with: `codec`, or fp32 where small tensors are packed.
const Codec& granule_codec(const Codec& codec, const ParamMap& map, std::uint64_t granule);

/// Encodes granules [granules.begin, granules.end) of a flat array that starts at granule
/// `granules.begin`; packed granules (small tensors) always as fp32, padding left out.
/// Errors: as Codec::encode, the message naming the parameter.
Status encode_granules(const Codec& codec, const ParamMap& map, Range granules,
                       std::span<const float> x, EncodeContext context, State* state,
                       ByteWriter& out);

/// Inverse: acc += scale * decoded, for the same granules. `acc` starts at granules.begin.
/// Errors: kBadFrame, also when bytes are left over.
Status decode_granules(const Codec& codec, const ParamMap& map, Range granules, ByteSpan bytes,
                       float scale, std::span<float> acc);

/// Largest encoding of these granules, bytes.
std::size_t granules_bytes_max(const Codec& codec, const ParamMap& map, Range granules);

}  // namespace shoal::compress
