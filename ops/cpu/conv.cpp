#include "ops/cpu/conv.h"

#include <algorithm>
#include <cstring>

#include "ops/cpu/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/conv.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/kernels/conv.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline ShoalConvSizes one_channel(ShoalConvSizes s) {
  s.batch = 1;
  s.out = 1;
  s.groups = 1;
  return s;
}

// As in product.cpp, whose panels are filled here.
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
using Tag = hn::CappedTag<float, 1>;
#else
using Tag = hn::ScalableTag<float>;
#endif
using V = hn::Vec<Tag>;

HWY_ATTR void pack_columns_all(const Columns& block, const float* planes_of, float* panels,
                               std::size_t panel) {
  const Tag d;
  const PaddedPlanes& planes = block.planes;
  const std::size_t kernel = planes.s.kernel;
  const Run* run = block.runs.data();
  const Run* const end = run + block.runs.size();
  float* out = panels;
  for (std::size_t first = 0; first < block.columns; first += panel) {
    const std::size_t width = std::min(panel, block.columns - first);
    const Run* stop = run;
    while (stop != end && stop->column < first + width) {
      ++stop;
    }
    // A run is written as a whole vector: what is too much belongs to a later run.
    for (std::size_t channel = 0; channel < block.channels; ++channel) {
      for (std::size_t ky = 0; ky < kernel; ++ky) {
        for (std::size_t kx = 0; kx < kernel; ++kx, out += width) {
          const float* from = planes_of + channel * planes.plane() + planes.offset(ky, kx);
          for (const Run* r = run; r != stop; ++r) {
            hn::StoreU(hn::LoadU(d, from + r->plane), d, out + (r->column - first));
          }
        }
      }
    }
    run = stop;
  }
}

HWY_ATTR void add_columns_all(const Columns& block, const float* col, float* planes_of) {
  const Tag d;
  const PaddedPlanes& planes = block.planes;
  const std::size_t kernel = planes.s.kernel;
  // Below one another first: what was stored a row before is then loaded from the same place, which
  // passes through the store buffer, while a shift by one column would wait for it.
  for (std::size_t channel = 0; channel < block.channels; ++channel) {
    for (std::size_t kx = 0; kx < kernel; ++kx) {
      for (std::size_t ky = 0; ky < kernel; ++ky) {
        const float* from = col + ((channel * kernel + ky) * kernel + kx) * block.columns;
        float* to = planes_of + channel * planes.plane() + planes.offset(ky, kx);
        for (const Run& r : block.runs) {
          const V add = hn::IfThenElseZero(hn::FirstN(d, r.lanes), hn::LoadU(d, from + r.column));
          hn::StoreU(hn::Add(hn::LoadU(d, to + r.plane), add), d, to + r.plane);
        }
      }
    }
  }
}

/// A vector of which `count` values are there; nothing beyond is touched.
HWY_ATTR HWY_INLINE V load_first(const float* from, std::size_t count) {
  const Tag d;
  if (count >= hn::Lanes(d)) {
    return hn::LoadU(d, from);
  }
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(from, count, part);
  return hn::Load(d, part);
#endif
}

HWY_ATTR HWY_INLINE void store_first(V value, float* to, std::size_t count) {
  const Tag d;
  if (count >= hn::Lanes(d)) {
    hn::StoreU(value, d, to);
    return;
  }
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(value, d, part);
  std::copy_n(part, count, to);
#endif
}

HWY_ATTR HWY_INLINE V relu_lanes(V x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(Tag())), x);  // keeps NaN, as kernels::relu
}

HWY_ATTR void plain_result(const ConvRow& row, const float* product, float bias, float* y) {
  const Tag d;
  const std::size_t count = row.s.conv_height * row.s.conv_width;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V value = hn::Add(load_first(product + i, count - i), hn::Set(d, bias));
    store_first(row.with_relu ? relu_lanes(value) : value, y + i, count - i);
  }
}

HWY_ATTR float plain_backward(const ConvRow& row, const float* y, const float* dy,
                              float* dproduct) {
  const Tag d;
  const std::size_t count = row.s.conv_height * row.s.conv_width;
  V sum = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    V value = load_first(dy + i, count - i);
    if (row.with_relu) {
      value = hn::IfThenZeroElse(hn::Le(load_first(y + i, count - i), hn::Zero(d)), value);
    }
    store_first(value, dproduct + i, count - i);
    sum = hn::Add(sum, value);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// Any pooling, as the kernel bodies say, with one image of one channel.
HWY_ATTR void windows_result(const ConvRow& row, const float* product, float bias, float* y,
                             std::uint8_t* argmax) {
  kernels::for_each_index((row.s.conv_height / row.s.pool) * (row.s.conv_width / row.s.pool),
                          kernels::ConvResult<float>{one_channel(row.s), 0, 1, 0, product, &bias, y,
                                                     argmax, row.with_relu});
}

HWY_ATTR float windows_backward(const ConvRow& row, const float* y, const float* dy,
                                const std::uint8_t* argmax, float* dproduct) {
  const std::size_t count = row.s.conv_height * row.s.conv_width;
  kernels::for_each_index(
      count, kernels::ConvResultBackward<float>{one_channel(row.s), 0, 1, 0, y, dy, argmax,
                                                dproduct, row.with_relu});
  float sum = 0.0F;
  for (std::size_t i = 0; i < count; ++i) {
    sum += dproduct[i];
  }
  return sum;
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

HWY_ATTR void pairs_result(const ConvRow& row, const float* product, float bias, float* y,
                           std::uint8_t* argmax) {
  windows_result(row, product, bias, y, argmax);
}
HWY_ATTR float pairs_backward(const ConvRow& row, const float* y, const float* dy,
                              const std::uint8_t* argmax, float* dproduct) {
  return windows_backward(row, y, dy, argmax, dproduct);
}

#else

using Bytes = hn::Rebind<std::uint8_t, Tag>;
using Ints = hn::Rebind<std::int32_t, Tag>;

HWY_ATTR HWY_INLINE void store_numbers(V at, std::uint8_t* to, std::size_t count) {
  const auto bytes = hn::DemoteTo(Bytes(), hn::ConvertTo(Ints(), at));
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(bytes, hn::FirstN(Bytes(), count), Bytes(), to);
#else
  HWY_ALIGN std::uint8_t part[HWY_MAX_BYTES];
  hn::StoreU(bytes, Bytes(), part);
  std::memcpy(to, part, count);
#endif
}

/// The larger of each pair so far and the next value, and its number. NaN wins.
HWY_ATTR HWY_INLINE void take_larger(V value, float number, V& best, V& at) {
  const Tag d;
  const auto take = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
  best = hn::IfThenElse(take, value, best);
  at = hn::IfThenElse(take, hn::Set(d, number), at);
}

HWY_ATTR void pairs_result(const ConvRow& row, const float* product, float bias, float* y,
                           std::uint8_t* argmax) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t width = row.s.conv_width / 2;
  for (std::size_t r = 0; r < row.s.conv_height / 2; ++r, y += width, argmax += width) {
    const float* upper = product + 2 * r * row.s.conv_width;
    const float* lower = upper + row.s.conv_width;
    for (std::size_t c = 0; c < width; c += lanes) {
      const V u0 = hn::LoadU(d, upper + 2 * c);
      const V u1 = hn::LoadU(d, upper + 2 * c + lanes);
      const V l0 = hn::LoadU(d, lower + 2 * c);
      const V l1 = hn::LoadU(d, lower + 2 * c + lanes);
      V best = hn::ConcatEven(d, u1, u0);
      V at = hn::Zero(d);
      take_larger(hn::ConcatOdd(d, u1, u0), 1.0F, best, at);
      take_larger(hn::ConcatEven(d, l1, l0), 2.0F, best, at);
      take_larger(hn::ConcatOdd(d, l1, l0), 3.0F, best, at);
      best = hn::Add(best, hn::Set(d, bias));
      store_first(row.with_relu ? relu_lanes(best) : best, y + c, width - c);
      store_numbers(at, argmax + c, std::min(lanes, width - c));
    }
  }
}

/// Numbers of the windows' largest, as they were kept.
HWY_ATTR HWY_INLINE V load_numbers(const std::uint8_t* from, std::size_t count) {
#if HWY_TARGET <= HWY_AVX3
  const auto bytes = hn::MaskedLoad(hn::FirstN(Bytes(), count), Bytes(), from);
#else
  HWY_ALIGN std::uint8_t part[HWY_MAX_BYTES] = {};
  std::memcpy(part, from, count);
  const auto bytes = hn::LoadU(Bytes(), part);
#endif
  return hn::ConvertTo(Tag(), hn::PromoteTo(Ints(), bytes));
}

/// Columns [c, c + count) of a row of windows: dy to where it belongs in the rows `upper` and
/// `lower` of the product's gradient, of which one may be null. What is too much are zeros in what
/// is written later. Gives dy behind the activation.
HWY_ATTR HWY_INLINE V spread(const ConvRow& row, const float* y, const float* dy,
                             const std::uint8_t* argmax, std::size_t count, float* upper,
                             float* lower) {
  const Tag d;
  V value = load_first(dy, count);
  if (row.with_relu) {
    value = hn::IfThenZeroElse(hn::Le(load_first(y, count), hn::Zero(d)), value);
  }
  const V at = load_numbers(argmax, count);
  const auto chosen = [&](float number) HWY_ATTR {
    return hn::IfThenElseZero(hn::Eq(at, hn::Set(d, number)), value);
  };
  if (upper != nullptr) {
    hn::StoreInterleaved2(chosen(0.0F), chosen(1.0F), d, upper);
  }
  if (lower != nullptr) {
    hn::StoreInterleaved2(chosen(2.0F), chosen(3.0F), d, lower);
  }
  return value;
}

HWY_ATTR float pairs_backward(const ConvRow& row, const float* y, const float* dy,
                              const std::uint8_t* argmax, float* dproduct) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t cols = row.s.conv_width;
  const std::size_t width = cols / 2;
  V sum = hn::Zero(d);
  for (std::size_t r = 0; r < row.s.conv_height / 2;
       ++r, y += width, dy += width, argmax += width) {
    float* upper = dproduct + 2 * r * cols;
    float* lower = upper + cols;
    if (width <= lanes) {
      sum = hn::Add(sum, spread(row, y, dy, argmax, width, upper, lower));
    } else {
      for (std::size_t c = 0; c < width; c += lanes) {
        const std::size_t count = std::min(lanes, width - c);
        sum = hn::Add(sum, spread(row, y + c, dy + c, argmax + c, count, upper + 2 * c, nullptr));
      }
      for (std::size_t c = 0; c < width; c += lanes) {
        const std::size_t count = std::min(lanes, width - c);
        spread(row, y + c, dy + c, argmax + c, count, nullptr, lower + 2 * c);
      }
    }
    if (cols % 2 == 1) {
      upper[cols - 1] = 0.0F;
      lower[cols - 1] = 0.0F;
    }
  }
  if (row.s.conv_height % 2 == 1) {
    std::fill_n(dproduct + (row.s.conv_height - 1) * cols, cols, 0.0F);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

#endif

HWY_ATTR void result_all(const ConvRow& row, const float* product, float bias, float* y,
                         std::uint8_t* argmax) {
  if (row.s.pool == 1) {
    plain_result(row, product, bias, y);
  } else if (row.s.pool == 2) {
    pairs_result(row, product, bias, y, argmax);
  } else {
    windows_result(row, product, bias, y, argmax);
  }
}

HWY_ATTR float result_backward_all(const ConvRow& row, const float* y, const float* dy,
                                   const std::uint8_t* argmax, float* dproduct) {
  if (row.s.pool == 1) {
    return plain_backward(row, y, dy, dproduct);
  }
  return row.s.pool == 2 ? pairs_backward(row, y, dy, argmax, dproduct)
                         : windows_backward(row, y, dy, argmax, dproduct);
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(pack_columns_all);
HWY_EXPORT(add_columns_all);
HWY_EXPORT(result_all);
HWY_EXPORT(result_backward_all);

PaddedPlanes::PaddedPlanes(const ShoalConvSizes& sizes)
    : s(sizes),
      rows(s.height + 2 * s.padding),
      pitch(std::max((s.width + 2 * s.padding + s.stride - 1) / s.stride,
                     (s.conv_width + vector_lanes() - 1) / vector_lanes() * vector_lanes())) {}

void make_runs(const PaddedPlanes& planes, std::size_t images, std::size_t image_floats,
               std::size_t lanes, std::size_t panel, std::vector<Run>& runs) {
  runs.clear();
  std::size_t column = 0;
  for (std::size_t image = 0; image < images; ++image) {
    for (std::size_t row = 0; row < planes.s.conv_height; ++row) {
      for (std::size_t x = 0; x < planes.s.conv_width;) {
        const std::size_t most = panel == 0 ? lanes : std::min(lanes, panel - column % panel);
        const std::size_t count = std::min(most, planes.s.conv_width - x);
        runs.push_back(
            {image * image_floats + row * planes.s.stride * planes.pitch + x, column, count});
        x += count;
        column += count;
      }
    }
  }
}

void copy_in(const PaddedPlanes& planes, const float* x, std::size_t count, float* to) {
  const ShoalConvSizes& s = planes.s;
  for (std::size_t channel = 0; channel < count; ++channel, to += planes.plane()) {
    for (std::size_t row = 0; row < s.height; ++row, x += s.width) {
      float* line = to + (row + s.padding) * planes.pitch;
      if (s.stride == 1) {
        std::copy_n(x, s.width, line + s.padding);
        continue;
      }
      for (std::size_t i = 0; i < s.width; ++i) {
        const std::size_t at = i + s.padding;
        line[at % s.stride * planes.rows * planes.pitch + at / s.stride] = x[i];
      }
    }
  }
}

void copy_out(const PaddedPlanes& planes, const float* from, std::size_t count, float* x) {
  const ShoalConvSizes& s = planes.s;
  for (std::size_t channel = 0; channel < count; ++channel, from += planes.plane()) {
    for (std::size_t row = 0; row < s.height; ++row, x += s.width) {
      const float* line = from + (row + s.padding) * planes.pitch;
      if (s.stride == 1) {
        std::copy_n(line + s.padding, s.width, x);
        continue;
      }
      for (std::size_t i = 0; i < s.width; ++i) {
        const std::size_t at = i + s.padding;
        x[i] = line[at % s.stride * planes.rows * planes.pitch + at / s.stride];
      }
    }
  }
}

void pack_columns(const Columns& block, const float* planes_of, float* panels) {
  HWY_DYNAMIC_DISPATCH(pack_columns_all)(block, planes_of, panels, panel_cols());
}

void add_columns(const Columns& block, const float* col, float* planes_of) {
  HWY_DYNAMIC_DISPATCH(add_columns_all)(block, col, planes_of);
}

void conv_result(const ConvRow& row, const float* product, float bias, float* y,
                 std::uint8_t* argmax) {
  HWY_DYNAMIC_DISPATCH(result_all)(row, product, bias, y, argmax);
}

float conv_result_backward(const ConvRow& row, const float* y, const float* dy,
                           const std::uint8_t* argmax, float* dproduct) {
  return HWY_DYNAMIC_DISPATCH(result_backward_all)(row, y, dy, argmax, dproduct);
}

}  // namespace shoal::ops::cpu
#endif
