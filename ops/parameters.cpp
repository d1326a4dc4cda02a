#include "ops/parameters.h"

#include <algorithm>

namespace shoal {

void Ranges::add(Range range) {
  if (range.empty()) {
    return;
  }
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                                [](const Range& r, std::uint64_t x) { return r.end < x; });
  auto last = first;
  while (last != ranges_.end() && last->begin <= range.end) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
    ++last;
  }
  ranges_.insert(ranges_.erase(first, last), range);
}

void Ranges::remove(Range range) {
  if (range.empty()) {
    return;
  }
  std::vector<Range> kept;
  for (const auto& r : ranges_) {
    const Range left{r.begin, std::min(r.end, range.begin)};
    const Range right{std::max(r.begin, range.end), r.end};
    if (!left.empty()) {
      kept.push_back(left);
    }
    if (!right.empty()) {
      kept.push_back(right);
    }
  }
  ranges_ = std::move(kept);
}

Ranges Ranges::intersect(const Ranges& other) const {
  Ranges out;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    out.add({std::max(a->begin, b->begin), std::min(a->end, b->end)});
    (a->end < b->end) ? ++a : ++b;
  }
  return out;
}

std::uint64_t Ranges::size() const {
  std::uint64_t total = 0;
  for (const auto& r : ranges_) {
    total += r.size();
  }
  return total;
}

bool Ranges::contains(std::uint64_t coordinate) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& r) { return r.begin <= coordinate && coordinate < r.end; });
}

namespace {

Result<std::uint64_t> count_elements(const std::string& name,
                                     const std::vector<std::int64_t>& shape) {
  std::uint64_t elements = 1;
  for (const auto d : shape) {
    if (d < 1 || d > (std::int64_t{1} << 40) ||
        elements > (std::uint64_t{1} << 40) / static_cast<std::uint64_t>(d)) {
      return config_error("parameter " + name + " has an impossible dimension " +
                          std::to_string(d) + "; each must be at least 1");
    }
    elements *= static_cast<std::uint64_t>(d);
  }
  if (shape.empty()) {
    return config_error("parameter " + name + " has no shape");
  }
  return elements;
}

}  // namespace

Status ParamMap::add(Param param) {
  SHOAL_CHECK(!sealed_, "parameters are declared before seal()");
  if (find(param.name) != nullptr) {
    return config_error("two parameters are named " + param.name);
  }
  SHOAL_ASSIGN(param.elements, count_elements(param.name, param.shape));
  params_.push_back(std::move(param));
  return {};
}

Status ParamMap::add_buffer(Buffer buffer) {
  SHOAL_CHECK(!sealed_, "buffers are declared before seal()");
  SHOAL_ASSIGN(buffer.elements, count_elements(buffer.name, buffer.shape));
  buffers_.push_back(std::move(buffer));
  return {};
}

Status ParamMap::tie(std::string_view name, std::string_view with) {
  SHOAL_CHECK(!sealed_, "parameters are tied before seal()");
  const auto place = [this](std::string_view wanted) {
    return std::find_if(params_.begin(), params_.end(),
                        [&](const Param& p) { return p.name == wanted; });
  };
  const auto a = place(name);
  const auto b = place(with);
  if (a == params_.end() || b == params_.end()) {
    return config_error("no parameter is called " + std::string(a == params_.end() ? name : with) +
                        ", so none can share it");
  }
  if (a->shape != b->shape) {
    return config_error("parameters " + std::string(name) + " and " + std::string(with) +
                        " cannot be one, since their shapes differ");
  }
  if (b->tie_group < 0) {
    b->tie_group = tie_groups_++;
  }
  a->tie_group = b->tie_group;
  return {};
}

std::size_t ParamMap::first_tied(std::size_t index) const {
  const int group = params_[index].tie_group;
  if (group < 0) {
    return index;
  }
  const auto first = std::find_if(params_.begin(), params_.end(),
                                  [group](const Param& p) { return p.tie_group == group; });
  return static_cast<std::size_t>(first - params_.begin());
}

void ParamMap::seal() {
  SHOAL_CHECK(!sealed_, "seal() is called once");
  sealed_ = true;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    auto& p = params_[i];
    if (p.elements < kGranule || first_tied(i) != i) {
      continue;
    }
    p.offset = flat_size_;
    for (std::uint64_t done = 0; done < p.elements; done += kGranule) {
      granule_elements_.push_back(
          static_cast<std::uint32_t>(std::min(kGranule, p.elements - done)));
    }
    flat_size_ = granule_elements_.size() * kGranule;
  }
  first_packed_granule_ = granule_elements_.size();
  std::uint64_t cursor = flat_size_;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].elements < kGranule && first_tied(i) == i) {
      params_[i].offset = cursor;
      cursor += params_[i].elements;
    }
  }
  for (std::size_t i = 0; i < params_.size(); ++i) {
    params_[i].offset = params_[first_tied(i)].offset;
  }
  for (std::uint64_t done = flat_size_; done < cursor; done += kGranule) {
    granule_elements_.push_back(static_cast<std::uint32_t>(std::min(kGranule, cursor - done)));
  }
  flat_size_ = granule_elements_.size() * kGranule;
  for (auto& b : buffers_) {
    b.offset = buffer_size_;
    buffer_size_ += b.elements;
  }
}

const Param* ParamMap::find(std::string_view name) const {
  const auto it =
      std::find_if(params_.begin(), params_.end(), [&](const Param& p) { return p.name == name; });
  return it == params_.end() ? nullptr : &*it;
}

std::uint64_t ParamMap::parameter_count() const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    total += first_tied(i) == i ? params_[i].elements : 0;
  }
  return total;
}

Hash256 ParamMap::model_hash() const {
  Hasher h;
  h.add("shoal model 1");
  for (const auto& p : params_) {
    h.add_u64(p.name.size()).add(p.name).add_u64(p.shape.size());
    for (const auto d : p.shape) {
      h.add_u64(static_cast<std::uint64_t>(d));
    }
    h.add_u64(p.offset).add_u64(p.trainable ? 1 : 0).add_u64(p.local ? 1 : 0);
    h.add_u64(static_cast<std::uint64_t>(p.tie_group) + 1);
  }
  for (const auto& b : buffers_) {
    h.add_u64(b.name.size()).add(b.name).add_u64(b.elements);
    h.add_u64(static_cast<std::uint64_t>(b.policy));
  }
  return h.finish();
}

Hash256 parameter_hash(const ParamMap& map, std::span<const float> parameters,
                       std::span<const float> buffers) {
  SHOAL_CHECK(parameters.size() == map.flat_size(), "the flat array has the map's size");
  SHOAL_CHECK(buffers.size() == map.buffer_size(), "the second array has the map's size");
  Hasher all;
  for (std::uint64_t g = 0; g < map.granule_count(); ++g) {
    const auto granule =
        parameters.subspan(static_cast<std::size_t>(g * kGranule), map.granule_elements(g));
    all.add(hash_of(std::as_bytes(granule)).span());
  }
  all.add(std::as_bytes(buffers));
  return all.finish();
}

}  // namespace shoal
