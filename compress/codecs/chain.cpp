// Stages one behind the other: which values are kept (all, the largest, or random ones that all
// senders choose alike), any other codec for their values, and zstd where that makes them smaller.
//
// A granule, in bits, lowest first: kept 2 (all, largest, random, nothing), packed 1, wire id of
// the values' codec 8; if the largest: index code 4, count - 1 12, the indices (index_coding.h);
// zeros up to a whole byte. If random: their support (random_support.h). Then, unless nothing is
// kept, the values as their codec writes a granule of so many; if packed: u16 of bytes and as
// many bytes, one zstd frame of that.
#include <zstd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "compress/codec.h"
#include "compress/codecs/common.h"
#include "compress/index_coding.h"
#include "compress/random_support.h"
#include "compress/select.h"

namespace shoal::compress {
namespace {

constexpr std::uint8_t kWireId = 17;
constexpr int kZstdLevel = 1;

constexpr unsigned kKeptBits = 2;
constexpr unsigned kPackedBits = 1;
constexpr unsigned kWireIdBits = 8;
constexpr std::size_t kHeadBits = kKeptBits + kPackedBits + kWireIdBits + kIndexCodeBits + kGapBits;
static_assert(kHeadBits <= 30);

enum class Kept : std::uint8_t { kAll, kLargest, kRandom, kNothing };

struct Stages {
  Kept kept = Kept::kAll;
  bool exact = false;  ///< the largest, exactly as many as asked for
  std::unique_ptr<Codec> values;
  bool zstd = false;
};

/// Whether a codec can write kept values: by itself, and not another chain.
bool can_follow(const Properties& p) {
  return p.wire_id != kWireId && p.phases == 1 && p.state == StateKind::kNone && !p.whole_tensor &&
         p.carry_decay == 1;
}

/// Errors: kConfig, in words.
Result<Stages> read_stages(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> names;
  for (std::string word; words >> word;) {
    names.push_back(word);
  }
  Stages stages;
  auto name = names.begin();
  if (name != names.end() && (*name == "topk" || *name == "exact" || *name == "randomk")) {
    stages.kept = *name == "randomk" ? Kept::kRandom : Kept::kLargest;
    stages.exact = *name == "exact";
    ++name;
  }
  if (name == names.end()) {
    return config_error("chain: \"" + text + "\" has no codec for the values, as in \"topk int8\"");
  }
  SHOAL_ASSIGN(stages.values, make_codec(*name, {}));
  if (!can_follow(stages.values->properties())) {
    return config_error("chain: " + *name + " can't be a stage; int8 or bf16 could");
  }
  ++name;
  stages.zstd = name != names.end() && *name == "zstd";
  name += stages.zstd ? 1 : 0;
  if (name != names.end()) {
    return config_error("chain: \"" + *name + "\" can't stand where it does in \"" + text +
                        "\"; stages are [topk|exact|randomk] CODEC [zstd]");
  }
  return stages;
}

/// Makes `bytes` smaller; empty when zstd can't.
std::vector<std::byte> packed(ByteSpan bytes) {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd(ZSTD_createCCtx(),
                                                                               ZSTD_freeCCtx);
  std::vector<std::byte> out(bytes.size());
  const std::size_t size =
      ZSTD_compressCCtx(zstd.get(), out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  // What does not fit is an error to zstd; two bytes of size come on top.
  out.resize(ZSTD_isError(size) != 0 || size + sizeof(std::uint16_t) >= bytes.size() ? 0 : size);
  return out;
}

/// The inverse, into `room`. Returns how many bytes there are, 0 for what packed() never makes.
std::size_t unpacked(ByteSpan bytes, std::span<std::byte> room) {
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd(ZSTD_createDCtx(),
                                                                               ZSTD_freeDCtx);
  if (ZSTD_findFrameCompressedSize(bytes.data(), bytes.size()) != bytes.size()) {
    return 0;
  }
  const std::size_t size =
      ZSTD_decompressDCtx(zstd.get(), room.data(), room.size(), bytes.data(), bytes.size());
  const bool good = ZSTD_isError(size) == 0 && bytes.size() + sizeof(std::uint16_t) < size;
  return good ? size : 0;
}

class Chain final : public Codec {
 public:
  Chain(Stages stages, double density) : stages_(std::move(stages)), density_(density) {
    const Properties& values = stages_.values->properties();
    properties_.deterministic = values.deterministic && stages_.kept != Kept::kRandom;
    if (stages_.kept == Kept::kAll) {
      properties_.lossless = values.lossless;
      properties_.unbiased = values.unbiased;
      properties_.contraction = values.contraction;
    } else if (stages_.kept == Kept::kLargest) {
      // Kept are density * n values or, of a sample, 7/8 of that, and none larger is left out.
      properties_.contraction = (stages_.exact ? 1 : 0.875) * density * values.contraction;
    }
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    const KeepCount keep(density_, elements);
    const std::size_t kept = stages_.kept == Kept::kAll      ? elements
                             : stages_.kept == Kept::kRandom ? keep.aim
                                                             : keep.high;
    return (kHeadBits + index_bits_max(kept, elements) + 7) / 8 + kSupportBytes +
           stages_.values->bytes_max(kept, 1);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    SHOAL_CHECK(!x.empty() && x.size() <= kGranule, "a granule at a time");
    std::array<std::uint16_t, kGranule> room;
    std::array<float, kGranule> chosen;
    const KeepCount keep(density_, x.size());
    Selection found{.count = keep.aim, .max = 0};
    if (stages_.kept == Kept::kLargest) {
      found = stages_.exact ? select_exactly(x, keep, room) : select_largest(x, keep, room);
    } else if (stages_.kept == Kept::kRandom) {
      found.max = abs_max(x);
      draw_support(support_seed(context), x.size(), std::span(room).first(found.count));
    }
    if (found.max >= kInfBits) {
      return not_finite_error(x);
    }
    const auto indices = std::span(room).first(found.count);
    std::span<const float> values = x;
    if (stages_.kept != Kept::kAll) {
      std::transform(indices.begin(), indices.end(), chosen.begin(),
                     [&](std::uint16_t i) { return x[i]; });
      values = std::span(chosen).first(found.count);
    }
    ByteWriter plain;
    if (!values.empty()) {
      SHOAL_TRY(stages_.values->encode(values, context, plain));
    }
    const auto small = stages_.zstd ? packed(plain.span()) : std::vector<std::byte>();
    put_head(values.empty() ? Kept::kNothing : stages_.kept, !small.empty(), indices, out);
    if (stages_.kept == Kept::kRandom) {
      put_support(support_seed(context), indices.size(), out);
    }
    if (!small.empty()) {
      out.put(static_cast<std::uint16_t>(small.size()));
    }
    out.put_bytes(small.empty() ? plain.span() : ByteSpan(small));
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& context, float scale,
                                  std::span<float> acc) const override {
    std::array<std::uint16_t, kGranule> room;
    Head head;
    SHOAL_TRY(get_head(in, acc.size(), room, head));
    if (head.kept == Kept::kNothing) {
      return {};
    }
    std::array<float, kGranule> chosen{};
    const auto values = std::span(chosen).first(head.count);
    const auto target = head.kept == Kept::kAll ? acc : values;
    const float factor = head.kept == Kept::kAll ? scale : 1;
    if (head.packed) {
      SHOAL_TRY(decode_packed(in, *head.values, context, factor, target));
    } else {
      SHOAL_TRY(head.values->decode_add(in, context, factor, target));
    }
    for (std::size_t i = 0; i < values.size() && head.kept != Kept::kAll; ++i) {
      add_scaled(acc[room[i]], scale, values[i]);
    }
    return {};
  }

 private:
  struct Head {
    Kept kept = Kept::kAll;
    bool packed = false;
    const Codec* values = nullptr;
    std::size_t count = 0;
  };

  void put_head(Kept kept, bool is_packed, std::span<const std::uint16_t> indices,
                ByteWriter& out) const {
    const std::size_t start = out.size();
    const std::size_t index_bits =
        kept == Kept::kLargest ? index_bits_max(indices.size(), kGranule) : 0;
    BitWriter bits(out.grow((kHeadBits + index_bits + 7) / 8));
    bits.put(static_cast<std::uint32_t>(kept), kKeptBits);
    bits.put(is_packed ? 1 : 0, kPackedBits);
    bits.put(stages_.values->properties().wire_id, kWireIdBits);
    if (kept == Kept::kLargest) {
      const IndexCode code(indices);
      bits.put(code.code(), kIndexCodeBits);
      bits.put(static_cast<std::uint32_t>(indices.size() - 1), kGapBits);
      code.put(bits);
    }
    out.truncate(start + bits.finish());
  }

  /// Reads what stands before the values; the indices of kept ones lie in `room`.
  static Status get_head(ByteReader& in, std::size_t elements, std::span<std::uint16_t> room,
                         Head& head) {
    BitReader bits(in.rest());
    std::uint32_t kept = 0;
    std::uint32_t is_packed = 0;
    std::uint32_t wire_id = 0;
    if (!bits.get(kKeptBits, kept) || !bits.get(kPackedBits, is_packed) ||
        !bits.get(kWireIdBits, wire_id)) {
      return truncated_error("chain");
    }
    head.kept = static_cast<Kept>(kept);
    head.packed = is_packed != 0;
    head.values = codec_by_wire_id(static_cast<std::uint8_t>(wire_id));
    head.count = elements;
    if (head.values == nullptr || !can_follow(head.values->properties()) ||
        (head.packed && head.kept == Kept::kNothing)) {
      return foreign_error("chain", "a stage that can't be one");
    }
    if (head.kept == Kept::kLargest) {
      std::uint32_t code = 0;
      std::uint32_t last = 0;
      if (!bits.get(kIndexCodeBits, code) || !bits.get(kGapBits, last)) {
        return truncated_error("chain");
      }
      if (last >= elements || !get_indices(bits, code, elements, room.first(last + 1))) {
        return foreign_error("chain", "an index out of range");
      }
      head.count = last + 1;
    }
    std::size_t size = 0;
    ByteSpan read;
    if (!bits.finish(size) || !in.get_bytes(size, read)) {
      return foreign_error("chain", "padding that is not zero");
    }
    if (head.kept == Kept::kRandom) {
      head.count = get_support(in, elements, room);
    }
    return head.count > 0 ? Status{} : foreign_error("chain", "no support, or one out of range");
  }

  static Status decode_packed(ByteReader& in, const Codec& codec, const CodecContext& context,
                              float scale, std::span<float> acc) {
    std::uint16_t size = 0;
    ByteSpan bytes;
    if (!in.get(size) || !in.get_bytes(size, bytes)) {
      return truncated_error("chain");
    }
    std::vector<std::byte> room(codec.bytes_max(acc.size(), 1));
    ByteReader plain(ByteSpan(room).first(unpacked(bytes, room)));
    SHOAL_TRY(codec.decode_add(plain, context, scale, acc));
    return plain.left() == 0 ? Status{} : foreign_error("chain", "bytes behind the values");
  }

  Stages stages_;
  double density_;
  Properties properties_{.wire_id = kWireId};
};

std::unique_ptr<Codec> make_chain(const Options& options) {
  auto stages = read_stages(options.get_string("stages"));
  SHOAL_CHECK(stages.ok(), "the stages were checked");
  return std::make_unique<Chain>(std::move(stages).value(), options.get_float("density"));
}

}  // namespace

CodecEntry chain_entry() {
  OptionSpec stages{.name = "stages",
                    .type = OptionType::kString,
                    .default_value = std::string("topk int8"),
                    .help = "[topk|exact|randomk] CODEC [zstd]: what is kept, how it is written",
                    .minimum = {},
                    .maximum = {},
                    .choices = {},
                    .scope = Scope::kPeer};
  OptionSpec density{.name = "density",
                     .type = OptionType::kFloat,
                     .default_value = 0.01,
                     .help = "share of the values that topk, exact or randomk keep",
                     .minimum = 1e-6,
                     .maximum = 1.0,
                     .choices = {},
                     .scope = Scope::kPeer};
  return {"chain",
          "stages one behind the other",
          {std::move(stages), std::move(density)},
          make_chain,
          [](const Options& options) -> Status {
            const auto read = read_stages(options.get_string("stages"));
            return read.ok() ? Status{} : Status{read.error()};
          }};
}

}  // namespace shoal::compress
