#include "compress/codec.h"
#include "compress/lane.h"
#include "ops/base/check.h"

namespace shoal::compress {

std::unique_ptr<State> Codec::make_state(const ParamMap&) const { return nullptr; }

const Codec& granule_codec(const Codec& codec, const ParamMap& map, std::uint64_t granule) {
  static const Codec& fp32 = *codec_by_wire_id(1);
  return map.granule_packed(granule) ? fp32 : codec;
}

namespace {

void check_range(const Codec& codec, const ParamMap& map, Range granules, std::size_t elements) {
  SHOAL_CHECK(granules.begin <= granules.end && granules.end <= map.granule_count(),
              "granules of the map");
  SHOAL_CHECK(elements >= granules.size() * kGranule, "the array covers the granules");
  SHOAL_CHECK(!codec.properties().whole_tensor, "a codec of granules");
}

/// Names the parameter behind a coordinate of the flat array, and the element in it.
std::string element_name(const ParamMap& map, std::uint64_t coordinate) {
  for (const Param& param : map.params()) {
    if (coordinate >= param.offset && coordinate - param.offset < param.elements) {
      return param.name + "[" + std::to_string(coordinate - param.offset) + "]";
    }
  }
  return "element " + std::to_string(coordinate);
}

}  // namespace

Status encode_granules(const Codec& codec, const ParamMap& map, Range granules,
                       std::span<const float> x, EncodeContext context, State* state,
                       ByteWriter& out) {
  check_range(codec, map, granules, x.size());
  out.reserve(granules_bytes_max(codec, map, granules));
  for (std::uint64_t g = granules.begin; g < granules.end; ++g) {
    const std::size_t begin = static_cast<std::size_t>((g - granules.begin) * kGranule);
    const auto part = x.subspan(begin, map.granule_elements(g));
    context.granule = g;
    const Status status = granule_codec(codec, map, g).encode(part, context, state, out);
    if (!status.ok()) {
      Error error = status.error();
      if (const std::size_t i = first_not_finite(part); i < part.size()) {
        error.message = "parameter " + element_name(map, g * kGranule + i) + ": " + error.message;
      }
      return error;
    }
  }
  return {};
}

Status decode_granules(const Codec& codec, const ParamMap& map, Range granules, ByteSpan bytes,
                       float scale, std::span<float> acc) {
  check_range(codec, map, granules, acc.size());
  ByteReader in(bytes);
  for (std::uint64_t g = granules.begin; g < granules.end; ++g) {
    const std::size_t begin = static_cast<std::size_t>((g - granules.begin) * kGranule);
    const auto part = acc.subspan(begin, map.granule_elements(g));
    SHOAL_TRY(granule_codec(codec, map, g).decode_add(in, scale, part));
  }
  if (in.left() > 0) {
    return bad_frame(std::to_string(in.left()) + " bytes are left over after the last granule");
  }
  return {};
}

std::size_t granules_bytes_max(const Codec& codec, const ParamMap& map, Range granules) {
  std::size_t bytes = 0;
  for (std::uint64_t g = granules.begin; g < granules.end; ++g) {
    bytes += granule_codec(codec, map, g).bytes_max(map.granule_elements(g));
  }
  return bytes;
}

}  // namespace shoal::compress
