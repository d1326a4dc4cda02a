#include <algorithm>

#include "compress/codec.h"
#include "compress/lane.h"
#include "ops/base/check.h"

namespace shoal::compress {

std::unique_ptr<State> Codec::make_state(const ParamMap&, std::uint64_t) const { return nullptr; }

namespace {

/// The tensor that owns a granule that is not packed.
const Param& tensor_of(const ParamMap& map, std::uint64_t granule) {
  const std::uint64_t element = granule * kGranule;
  const auto it = std::find_if(map.params().begin(), map.params().end(), [&](const Param& p) {
    return p.offset <= element && element - p.offset < p.elements;
  });
  SHOAL_CHECK(it != map.params().end(), "every granule that is not packed has its tensor");
  return *it;
}

void check_range(const ParamMap& map, Range granules, std::size_t elements) {
  SHOAL_CHECK(granules.begin <= granules.end && granules.end <= map.granule_count(),
              "granules of the map");
  SHOAL_CHECK(elements >= granules.size() * kGranule, "the array covers the granules");
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

std::size_t first_element(Range granules, const Unit& unit) {
  return static_cast<std::size_t>((unit.granules.begin - granules.begin) * kGranule);
}

}  // namespace

Unit unit_at(const Codec& codec, const ParamMap& map, std::uint64_t granule) {
  static const Codec& fp32 = *codec_by_wire_id(1);
  if (map.granule_packed(granule)) {
    return {&fp32, {granule, granule + 1}, map.granule_elements(granule), 1};
  }
  if (!codec.properties().whole_tensor) {
    return {&codec, {granule, granule + 1}, map.granule_elements(granule), 1};
  }
  const Param& tensor = tensor_of(map, granule);
  const std::uint64_t end = tensor.offset + tensor.elements;
  return {&codec,
          {granule, (end + kGranule - 1) / kGranule},
          static_cast<std::size_t>(end - granule * kGranule),
          static_cast<std::size_t>(tensor.shape.front())};
}

bool may_cut(const Codec& codec, const ParamMap& map, std::uint64_t granule) {
  return !codec.properties().whole_tensor || granule >= map.granule_count() ||
         map.granule_packed(granule) || tensor_of(map, granule).offset == granule * kGranule;
}

Status encode_granules(const Codec& codec, const ParamMap& map, Range granules,
                       std::span<const float> x, CodecContext context, ByteWriter& out) {
  check_range(map, granules, x.size());
  SHOAL_CHECK(may_cut(codec, map, granules.begin) && may_cut(codec, map, granules.end),
              "tensors are whole");
  out.reserve(granules_bytes_max(codec, map, granules));
  for (std::uint64_t g = granules.begin; g < granules.end;) {
    const Unit unit = unit_at(codec, map, g);
    const auto part = x.subspan(first_element(granules, unit), unit.elements);
    context.granule = g;
    context.rows = unit.rows;
    const Status status = unit.codec->encode(part, context, out);
    if (!status.ok()) {
      Error error = status.error();
      if (const std::size_t i = first_not_finite(part); i < part.size()) {
        error.message = "parameter " + element_name(map, g * kGranule + i) + ": " + error.message;
      }
      return error;
    }
    g = unit.granules.end;
  }
  return {};
}

Status decode_granules(const Codec& codec, const ParamMap& map, Range granules,
                       CodecContext context, ByteSpan bytes, float scale, std::span<float> acc) {
  check_range(map, granules, acc.size());
  if (!may_cut(codec, map, granules.begin) || !may_cut(codec, map, granules.end)) {
    return bad_frame("a part ends within a tensor that its codec takes whole");
  }
  ByteReader in(bytes);
  for (std::uint64_t g = granules.begin; g < granules.end;) {
    const Unit unit = unit_at(codec, map, g);
    context.granule = g;
    context.rows = unit.rows;
    const auto part = acc.subspan(first_element(granules, unit), unit.elements);
    SHOAL_TRY(unit.codec->decode_add(in, context, scale, part));
    g = unit.granules.end;
  }
  if (in.left() > 0) {
    return bad_frame(std::to_string(in.left()) + " bytes are left over after the last granule");
  }
  return {};
}

std::size_t granules_bytes_max(const Codec& codec, const ParamMap& map, Range granules) {
  std::size_t bytes = 0;
  for (std::uint64_t g = granules.begin; g < granules.end;) {
    const Unit unit = unit_at(codec, map, g);
    bytes += unit.codec->bytes_max(unit.elements, unit.rows);
    g = unit.granules.end;
  }
  return bytes;
}

}  // namespace shoal::compress
