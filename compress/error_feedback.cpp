#include "compress/error_feedback.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compress/lane.h"
#include "ops/base/check.h"

namespace shoal::compress {
namespace {

std::size_t first_element(std::uint64_t granule) {
  return static_cast<std::size_t>(granule * kGranule);
}

}  // namespace

Carry::Carry(const ParamMap& map)
    : map_(&map),
      values_(static_cast<std::size_t>(map.flat_size())),
      pending_(static_cast<std::size_t>(map.granule_count())) {}

void Carry::use(const Codec& codec) {
  momentum_ = codec.properties().momentum;
  if (momentum_ == 0) {
    velocity_ = {};
  } else {
    velocity_.resize(values_.size());
  }
}

void Carry::contribution(double weight, std::span<const float> x, std::span<float> s) const {
  SHOAL_CHECK(x.size() == values_.size() && s.size() == values_.size(), "whole flat arrays");
  const auto w = static_cast<float>(weight);
  for (std::uint64_t g = 0; g < map_->granule_count(); ++g) {
    const std::size_t begin = first_element(g);
    const std::size_t end = begin + map_->granule_elements(g);
    for (std::size_t i = begin; i < end; ++i) {
      const float weighted = w * x[i];
      s[i] = weighted + values_[i];
    }
    for (std::size_t i = begin; i < end && !velocity_.empty(); ++i) {
      const float weighted = w * x[i];
      const float kept = momentum_ * velocity_[i];
      const float moved = kept + weighted;
      s[i] = moved + values_[i];
    }
    std::fill(s.begin() + static_cast<std::ptrdiff_t>(end),
              s.begin() + static_cast<std::ptrdiff_t>(begin + kGranule), 0.0F);
  }
}

std::vector<WeightRun> Carry::weights(double weight, Range granules) const {
  SHOAL_CHECK(granules.end <= map_->granule_count(), "granules of the map");
  std::vector<WeightRun> runs;
  for (std::uint64_t g = granules.begin; g < granules.end; ++g) {
    const double total = weight + pending_[static_cast<std::size_t>(g)];
    if (!runs.empty() && runs.back().weight == total) {
      runs.back().granules.end = g + 1;
    } else {
      runs.push_back({{g, g + 1}, total});
    }
  }
  return runs;
}

void Carry::add(Range granules, float scale, std::span<const float> values) {
  SHOAL_CHECK(granules.end <= map_->granule_count(), "granules of the map");
  SHOAL_CHECK(values.size() >= granules.size() * kGranule, "the array covers the granules");
  for (std::uint64_t g = granules.begin; g < granules.end; ++g) {
    const std::size_t from = first_element(g - granules.begin);
    for (std::size_t i = 0; i < map_->granule_elements(g); ++i) {
      const float scaled = scale * values[from + i];
      const float sum = values_[first_element(g) + i] + scaled;
      values_[first_element(g) + i] = is_finite(sum) ? sum : values_[first_element(g) + i];
    }
  }
}

void Carry::move_velocity(std::size_t to, std::span<const float> s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const float moved = s[i] - values_[to + i];
    velocity_[to + i] = is_finite(moved) ? moved : 0;
  }
}

Status Carry::settle_included(const Codec& codec, CodecContext context, Range granules,
                              std::span<const float> s_part, double weight, ByteSpan encoded) {
  SHOAL_CHECK(granules.end <= map_->granule_count(), "granules of the map");
  SHOAL_CHECK(s_part.size() >= granules.size() * kGranule, "the array covers the granules");
  ByteReader in(encoded);
  const float decay = codec.properties().carry_decay;
  std::vector<float> decoded(kGranule);
  for (std::uint64_t g = granules.begin; g < granules.end;) {
    const Unit unit = unit_at(codec, *map_, g);
    context.granule = g;
    context.rows = unit.rows;
    decoded.assign(unit.elements, 0);
    SHOAL_TRY(unit.codec->decode_add(in, context, 1, decoded));
    const std::size_t from = first_element(g - granules.begin);
    const std::size_t to = first_element(g);
    if (!velocity_.empty() && weight > 0) {
      move_velocity(to, s_part.subspan(from, unit.elements));
    }
    for (std::size_t i = 0; i < unit.elements; ++i) {
      const float lost = s_part[from + i] - decoded[i];
      values_[to + i] = decay * lost;
    }
    const bool masked = !velocity_.empty() && unit.codec == &codec;  // packed ones go whole
    for (std::size_t i = 0; i < unit.elements && masked; ++i) {
      velocity_[to + i] = decoded[i] != 0 ? 0 : velocity_[to + i];
    }
    for (; g < unit.granules.end; ++g) {
      pending_[static_cast<std::size_t>(g)] = 0;
    }
  }
  return in.left() == 0 ? Status{} : bad_frame("bytes are left over after the last granule");
}

void Carry::settle_left_out(Range granules, std::span<const float> s_part, double weight) {
  SHOAL_CHECK(granules.end <= map_->granule_count(), "granules of the map");
  SHOAL_CHECK(s_part.size() >= granules.size() * kGranule, "the array covers the granules");
  for (std::uint64_t g = granules.begin; g < granules.end; ++g) {
    const auto part = s_part.subspan(first_element(g - granules.begin), map_->granule_elements(g));
    if (first_not_finite(part) < part.size()) {
      continue;
    }
    if (!velocity_.empty() && weight > 0) {
      move_velocity(first_element(g), part);
    }
    std::copy(part.begin(), part.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(first_element(g)));
    pending_[static_cast<std::size_t>(g)] += weight;
  }
}

void Carry::drop(Range granules) {
  SHOAL_CHECK(granules.end <= map_->granule_count(), "granules of the map");
  const auto at = [](std::uint64_t i) { return static_cast<std::ptrdiff_t>(i); };
  std::fill(values_.begin() + at(granules.begin * kGranule),
            values_.begin() + at(granules.end * kGranule), 0.0F);
  std::fill(pending_.begin() + at(granules.begin), pending_.begin() + at(granules.end), 0.0);
  if (!velocity_.empty()) {
    std::fill(velocity_.begin() + at(granules.begin * kGranule),
              velocity_.begin() + at(granules.end * kGranule), 0.0F);
  }
}

void Carry::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(values_.size()));
  out.put_bytes(std::as_bytes(std::span(values_)));
  out.put_bytes(std::as_bytes(std::span(pending_)));
  out.put(static_cast<std::uint64_t>(velocity_.size()));
  out.put_bytes(std::as_bytes(std::span(velocity_)));
}

Status Carry::load(ByteReader& in) {
  std::uint64_t size = 0;
  std::uint64_t moving = 0;
  ByteSpan values;
  ByteSpan pending;
  ByteSpan velocity;
  if (!in.get(size) || size != values_.size() ||
      !in.get_bytes(values_.size() * sizeof(float), values) ||
      !in.get_bytes(pending_.size() * sizeof(double), pending) || !in.get(moving) ||
      (moving != 0 && moving != size) ||
      !in.get_bytes(static_cast<std::size_t>(moving) * sizeof(float), velocity)) {
    return data_error("the saved carry belongs to another model or is cut short");
  }
  Carry loaded(*map_);
  loaded.momentum_ = momentum_;
  loaded.velocity_.resize(static_cast<std::size_t>(moving));
  std::memcpy(loaded.values_.data(), values.data(), values.size());
  std::memcpy(loaded.pending_.data(), pending.data(), pending.size());
  std::memcpy(loaded.velocity_.data(), velocity.data(), velocity.size());
  if (first_not_finite(loaded.values_) < loaded.values_.size() ||
      first_not_finite(loaded.velocity_) < loaded.velocity_.size() ||
      !std::all_of(loaded.pending_.begin(), loaded.pending_.end(),
                   [](double w) { return w >= 0 && w <= std::numeric_limits<double>::max(); })) {
    return data_error("the saved carry holds a value that is not finite or a negative weight");
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace shoal::compress
