#include "node/data/byte_reals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "node/data/byte_reals.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::node {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void put_all(const std::uint8_t* bytes, std::size_t count, float scale, float offset,
                      float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  const auto added = hn::Set(d, offset);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(narrow, bytes + i)));
    hn::StoreU(hn::Add(hn::Mul(x, factor), added), d, out + i);
  }
  for (; i < count; ++i) {
    out[i] = static_cast<float>(bytes[i]) * scale + offset;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::node
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::node {

HWY_EXPORT(put_all);

void put_reals(const std::uint8_t* bytes, std::size_t count, const Affine& affine, float* out) {
  HWY_DYNAMIC_DISPATCH(put_all)(bytes, count, affine.scale, affine.offset, out);
}

void fetch_bytes(const std::uint8_t* bytes, std::size_t count) {
  constexpr std::size_t kLine = 64;
  for (std::size_t i = 0; i < count; i += kLine) {
    hwy::Prefetch(bytes + i);
  }
}

}  // namespace shoal::node
#endif
