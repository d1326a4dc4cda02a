// Hostile bytes to every codec's decoder and state, and any numbers to its encoders. Input: byte 0
// is the codec's wire id, byte 1 picks which option is set to what, bytes 2 and 3 (little-endian)
// how many elements are expected; the rest is what a peer sent, and, read as floats, what is
// encoded. SHOAL_FUZZ_CODEC in the environment names the one codec that all inputs go to.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "compress/codec.h"
#include "compress/lane.h"
#include "ops/base/check.h"

namespace {

std::size_t allocated = 0;  // by this program so far, bytes

}  // namespace

// Not inlined: g++ would see new beside free.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  allocated += size;
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* const memory = operator new(size, std::nothrow); memory != nullptr) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}

namespace {

using namespace shoal;
using namespace shoal::compress;

/// One tensor of a granule and `rows` rows more, and a small one.
ParamMap map_of(std::int64_t rows) {
  ParamMap map;
  for (const std::int64_t size : {64 + rows, std::int64_t{7}}) {
    Param param;
    param.name = std::to_string(size);
    param.shape = size == 7 ? std::vector{size} : std::vector{size, std::int64_t{64}};
    SHOAL_CHECK(map.add(std::move(param)).ok(), "the map is good");
  }
  map.seal();
  return map;
}

/// A codec with its defaults, and with each option at each of its limits and choices in turn.
std::vector<std::unique_ptr<Codec>> variants_of(const CodecEntry& entry) {
  std::vector<std::unique_ptr<Codec>> all;
  all.push_back(entry.make(Options::defaults(entry.options)));
  const auto add = [&](const OptionSpec& spec, OptionValue value) {
    Options options;
    options.set(spec.name, std::move(value));
    if (auto codec = make_codec(entry.name, options); codec.ok()) {
      all.push_back(std::move(codec).value());
    }
  };
  for (const OptionSpec& spec : entry.options) {
    for (const auto& limit : {spec.minimum, spec.maximum}) {
      if (spec.type == OptionType::kInt && limit) {
        add(spec, static_cast<std::int64_t>(*limit));
      } else if (spec.type == OptionType::kFloat && limit) {
        add(spec, *limit);
      }
    }
    for (const std::string& choice : spec.choices) {
      add(spec, choice);
    }
  }
  return all;
}

/// The codec that an input is for, or null.
const Codec* codec_of(std::uint8_t wire_id, std::uint8_t variant) {
  static const auto all = [] {
    std::map<int, std::vector<std::unique_ptr<Codec>>> by_id;
    for (const CodecEntry& entry : registry()) {
      auto variants = variants_of(entry);
      const int id = variants.front()->properties().wire_id;
      by_id[id] = std::move(variants);
    }
    return by_id;
  }();
  static const int only = [] {
    const char* const name = std::getenv("SHOAL_FUZZ_CODEC");
    if (name == nullptr) {
      return 0;
    }
    const auto codec = make_codec(name, {});
    SHOAL_CHECK(codec.ok(), "SHOAL_FUZZ_CODEC names a codec");
    return int{(*codec)->properties().wire_id};
  }();
  const auto it = all.find(only != 0 ? only : wire_id);
  return it == all.end() ? nullptr : it->second[variant % it->second.size()].get();
}

/// Whatever was accepted is finite.
void check_finite(std::span<const float> x) {
  SHOAL_CHECK(first_not_finite(x) == x.size(), "accepted bytes decode to finite values");
}

/// Calls `decode`, which expects so many elements; it may allocate a few times their size.
template <typename Decode>
bool within_bounds(std::size_t elements, Decode decode) {
  const std::size_t before = allocated;
  const bool good = decode();
  SHOAL_CHECK(allocated - before <= 16 * sizeof(float) * (elements + 1024),
              "what is allocated follows from what is expected");
  return good;
}

void decode_granule(const Codec& codec, std::size_t elements, ByteSpan bytes) {
  std::vector<float> granule(elements);
  ByteReader in(bytes);
  if (within_bounds(elements, [&] { return codec.decode_add(in, {}, 1, granule).ok(); })) {
    check_finite(granule);
  }
}

/// The replicated state of a run's begin, or null; made once, since bases take long to draw.
const State* first_state(const Codec& codec, const ParamMap& map) {
  static std::map<std::pair<const Codec*, const ParamMap*>, std::unique_ptr<State>> all;
  const auto [it, fresh] = all.try_emplace({&codec, &map});
  if (fresh) {
    it->second = codec.make_state(map, 1);
  }
  return it->second.get();
}

void decode_and_advance(const Codec& codec, const ParamMap& map, ByteSpan bytes) {
  const Range whole{0, map.granule_count()};
  const State* const first = first_state(codec, map);
  const auto state = first == nullptr ? nullptr : first->clone();
  const CodecContext context{.run_seed = 1, .round = 1, .state = state.get()};
  std::vector<float> all(static_cast<std::size_t>(map.flat_size()));
  if (within_bounds(all.size(), [&] {
        return decode_granules(codec, map, whole, context, bytes, 1, all).ok();
      })) {
    check_finite(all);
    SHOAL_CHECK(state == nullptr || state->advance(whole, context, bytes).ok(),
                "what decodes moves the state on");
  }
  if (state != nullptr) {  // as a joiner gets it
    ByteReader saved(bytes);
    if (within_bounds(all.size(), [&] { return state->load(saved).ok(); })) {
      ByteWriter again;
      state->save(again);
      SHOAL_CHECK(std::ranges::equal(again.span(), bytes.first(again.size())),
                  "a state is saved as it was read");
    }
  }
}

/// The bytes as floats: a granule no longer than they are, or a whole tensor.
void encode_and_decode(const Codec& codec, const ParamMap& map, ByteSpan bytes) {
  const bool whole = codec.properties().whole_tensor;
  const std::size_t floats = std::clamp<std::size_t>(bytes.size() / sizeof(float), 1, kGranule);
  const Unit unit = unit_at(codec, map, 0);
  std::vector<float> x(whole ? unit.elements : floats);
  std::memcpy(x.data(), bytes.data(), std::min(bytes.size(), x.size() * sizeof(float)));
  const std::size_t rows = whole ? unit.rows : 1;
  const CodecContext context{
      .run_seed = 1, .round = 1, .sender = 1, .rows = rows, .state = first_state(codec, map)};
  ByteWriter out;
  if (!codec.encode(x, context, out).ok()) {
    return;
  }
  SHOAL_CHECK(out.size() <= codec.bytes_max(x.size(), rows), "the bound on bytes holds");
  std::vector<float> y(x.size());
  const Codec& decoder = *codec_by_wire_id(codec.properties().wire_id);
  ByteReader in(out.span());
  SHOAL_CHECK(decoder.decode_add(in, context, 1, y).ok() && in.left() == 0,
              "what was encoded is decoded");
  check_finite(y);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  const Codec* const codec = size < kHead ? nullptr : codec_of(data[0], data[1]);
  if (codec == nullptr) {
    return 0;
  }
  const std::size_t elements = 1 + (data[2] + 256U * data[3]) % kGranule;
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data) + kHead, size - kHead);
  static const std::array<ParamMap, 2> maps{map_of(0), map_of(2)};
  decode_granule(*codec, elements, bytes);
  decode_and_advance(*codec, maps[elements % 2], bytes);
  encode_and_decode(*codec, maps[elements % 2], bytes);
  return 0;
}
