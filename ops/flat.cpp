#include "ops/flat.h"

#include <algorithm>

namespace shoal::ops {

FlatSpace::FlatSpace(Ranges held) : held_(std::move(held)) {
  for (const auto& range : held_.list()) {
    starts_.push_back(size_);
    size_ += static_cast<std::size_t>(range.size());
  }
}

FlatSpace::FlatSpace(const ParamMap& map, Ranges held) : FlatSpace(std::move(held)) {
  for (const auto& param : map.params()) {
    if (holds({param.offset, param.offset + param.elements})) {
      tensors_.push_back(
          {local(param.offset), static_cast<std::size_t>(param.elements), param.shape.size() <= 1});
    }
  }
  std::stable_sort(tensors_.begin(), tensors_.end(),
                   [](const FlatTensor& a, const FlatTensor& b) { return a.begin < b.begin; });
  const auto same = [](const FlatTensor& a, const FlatTensor& b) { return a.begin == b.begin; };
  tensors_.erase(std::unique(tensors_.begin(), tensors_.end(), same), tensors_.end());
}

bool FlatSpace::holds(Range global) const {
  const auto& list = held_.list();
  return std::any_of(list.begin(), list.end(), [&](const Range& r) {
    return r.begin <= global.begin && global.end <= r.end;
  });
}

std::size_t FlatSpace::local(std::uint64_t global) const {
  const auto& list = held_.list();
  const auto after = std::upper_bound(list.begin(), list.end(), global,
                                      [](std::uint64_t x, const Range& r) { return x < r.begin; });
  SHOAL_CHECK(after != list.begin() && global < (after - 1)->end, "a coordinate is held");
  const auto index = static_cast<std::size_t>(after - 1 - list.begin());
  return starts_[index] + static_cast<std::size_t>(global - list[index].begin);
}

Result<FlatArray> FlatArray::make(Backend& backend, FlatSpace space) {
  FlatArray array;
  array.backend_ = &backend;
  SHOAL_ASSIGN(array.storage_, backend.allocate(space.size() * dtype_bytes(backend.real())));
  array.view_ = TensorView(array.storage_.data(), Shape{static_cast<std::int64_t>(space.size())},
                           backend.real(), backend.device());
  array.space_ = std::move(space);
  return array;
}

TensorView FlatArray::view(Range global, const Shape& shape) const {
  SHOAL_CHECK(space_.holds(global), "a tensor's coordinates are held");
  return view_.slice(space_.local(global.begin), static_cast<std::size_t>(global.size()))
      .reshape(shape);
}

void FlatArray::read(Range global, std::span<float> out) const {
  if (!global.empty()) {
    const Shape shape{static_cast<std::int64_t>(out.size())};
    backend_->download(view(global, shape), host_view(out.data(), shape));
  }
}

void FlatArray::write(Range global, std::span<const float> in) {
  if (!global.empty()) {
    const Shape shape{static_cast<std::int64_t>(in.size())};
    backend_->upload(host_view(in.data(), shape), view(global, shape));
  }
}

void FlatArray::read_all(std::span<float> out) const {
  SHOAL_CHECK(out.size() == space_.size(), "the array is read as a whole");
  backend_->download(view_, host_view(out.data(), view_.shape));
}

void FlatArray::write_all(std::span<const float> in) {
  SHOAL_CHECK(in.size() == space_.size(), "the array is written as a whole");
  backend_->upload(host_view(in.data(), view_.shape), view_);
}

void FlatArray::fill(float value) {
  constexpr std::size_t kPiece = 1 << 16;
  const std::vector<float> piece(std::min(kPiece, space_.size()), value);
  for (std::size_t done = 0; done < space_.size(); done += kPiece) {
    const auto part = view_.slice(done, std::min(kPiece, space_.size() - done));
    backend_->upload(host_view(piece.data(), part.shape), part);
  }
}

}  // namespace shoal::ops
