#include "ops/cpu/terms.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ops/cpu/fixed_width.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/terms.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As in product.cpp.
#if HWY_TARGET == HWY_SCALAR
using Tag = hn::CappedTag<float, 1>;
#else
using Tag = hn::ScalableTag<float>;
#endif

/// Sums that stay in registers while terms run.
template <std::size_t kCount>
struct Sums {
  HWY_ATTR HWY_INLINE Sums() {}
  hn::Vec<Tag> head;
  Sums<kCount - 1> tail;
};
template <>
struct Sums<1> {
  HWY_ATTR HWY_INLINE Sums() {}
  hn::Vec<Tag> head;
};

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void load(const float* from, Sums<kCount>& sums) {
  sums.head = hn::LoadU(Tag(), from);
  if constexpr (kCount > 1) {
    load(from + hn::Lanes(Tag()), sums.tail);
  }
}

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void clear(Sums<kCount>& sums) {
  sums.head = hn::Zero(Tag());
  if constexpr (kCount > 1) {
    clear(sums.tail);
  }
}

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void store(const Sums<kCount>& sums, float* to) {
  hn::StoreU(sums.head, Tag(), to);
  if constexpr (kCount > 1) {
    store(sums.tail, to + hn::Lanes(Tag()));
  }
}

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void multiply_add(hn::Vec<Tag> factor, const float* from, Sums<kCount>& sums) {
  sums.head = hn::MulAdd(factor, hn::LoadU(Tag(), from), sums.head);
  if constexpr (kCount > 1) {
    multiply_add(factor, from + hn::Lanes(Tag()), sums.tail);
  }
}

template <std::size_t kCount>
HWY_ATTR HWY_NOINLINE void sum_run(const Term* terms, std::size_t count, const float* from,
                                   float* to, bool add) {
  Sums<kCount> sums;
  if (add) {
    load(to, sums);
  } else {
    clear(sums);
  }
  for (const Term* term = terms; term != terms + count; ++term) {
    multiply_add(hn::Set(Tag(), term->factor), from + term->offset, sums);
  }
  store(sums, to);
}

HWY_ATTR void sum_vectors(const Term* terms, std::size_t count, const float* from, float* to,
                          std::size_t vectors, bool add) {
  switch (vectors) {
    case 1:
      return sum_run<1>(terms, count, from, to, add);
    case 2:
      return sum_run<2>(terms, count, from, to, add);
    case 3:
      return sum_run<3>(terms, count, from, to, add);
    case 4:
      return sum_run<4>(terms, count, from, to, add);
    case 5:
      return sum_run<5>(terms, count, from, to, add);
    case 6:
      return sum_run<6>(terms, count, from, to, add);
    case 7:
      return sum_run<7>(terms, count, from, to, add);
    case 8:
      return sum_run<8>(terms, count, from, to, add);
    case 9:
      return sum_run<9>(terms, count, from, to, add);
    default:
      return sum_run<10>(terms, count, from, to, add);
  }
}

HWY_ATTR void sum_terms_all(const Term* terms, std::size_t count, const float* from, float* to,
                            std::size_t floats, bool add) {
  constexpr std::size_t kMost = 10;  // of 16 registers or more
  const std::size_t lanes = hn::Lanes(Tag());
  for (std::size_t i = 0; i < floats; i += kMost * lanes) {
    sum_vectors(terms, count, from + i, to + i, std::min(kMost, (floats - i) / lanes), add);
  }
}

HWY_ATTR void sum_rows_all(const TermRows& rows, const float* from, float* to,
                           std::size_t to_stride, std::size_t floats, bool add) {
  const Term* terms = rows.terms;
  std::size_t begin = rows.begin;
  for (std::size_t row = 0; row < rows.count; ++row, to += to_stride) {
    sum_terms_all(terms + begin, rows.ends[row] - begin, from, to, floats, add);
    begin = rows.ends[row];
  }
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
/// The lower or upper half of what whole vectors hold, as terms: factor above offset in a word.
template <typename Half>
HWY_ATTR HWY_INLINE void write_terms(Half offsets, Half factors, Term* to) {
  static_assert(sizeof(Term) == sizeof(std::uint64_t) &&
                std::endian::native == std::endian::little);
  const hn::ScalableTag<std::uint64_t> d;
  HWY_ALIGN std::uint64_t words[HWY_MAX_BYTES / sizeof(std::uint64_t)];
  hn::Store(hn::Or(hn::ShiftLeft<32>(hn::PromoteTo(d, factors)), hn::PromoteTo(d, offsets)), d,
            words);
  std::memcpy(to, words, hn::Lanes(d) * sizeof(Term));
}
#endif

HWY_ATTR std::size_t gather_all(const float* values, std::size_t count, std::uint32_t step,
                                Term* to) {
  Term* end = to;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToFloat<decltype(d)> df;
  const hn::Half<decltype(d)> dh;
  const std::size_t wide = hn::Lanes(d);
  auto offsets = hn::Mul(hn::Iota(d, 0), hn::Set(d, step));
  const auto next = hn::Set(d, static_cast<std::uint32_t>(wide) * step);
  for (; i + wide <= count; i += wide) {
    const auto bits = hn::BitCast(d, hn::LoadU(df, values + i));
    const auto kept = hn::Ne(hn::Add(bits, bits), hn::Zero(d));  // without the sign
    const auto factors = hn::Compress(bits, kept);
    const auto places = hn::Compress(offsets, kept);
    write_terms(hn::LowerHalf(places), hn::LowerHalf(factors), end);
    write_terms(hn::UpperHalf(dh, places), hn::UpperHalf(dh, factors), end + wide / 2);
    end += hn::CountTrue(d, kept);
    offsets = hn::Add(offsets, next);
  }
#endif
  for (; i < count; ++i) {
    *end = {static_cast<std::uint32_t>(i) * step, values[i]};
    end += values[i] == 0.0F ? 0 : 1;
  }
  return static_cast<std::size_t>(end - to);
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(sum_terms_all);
HWY_EXPORT(sum_rows_all);
HWY_EXPORT(gather_all);

void sum_terms(const Term* terms, std::size_t count, const float* from, float* to,
               std::size_t floats, bool add) {
  HWY_DYNAMIC_DISPATCH(sum_terms_all)(terms, count, from, to, floats, add);
}

void sum_rows(const TermRows& rows, const float* from, float* to, std::size_t to_stride,
              std::size_t floats, bool add) {
  HWY_DYNAMIC_DISPATCH(sum_rows_all)(rows, from, to, to_stride, floats, add);
}

std::size_t gather_terms(const float* values, std::size_t count, std::uint32_t step, Term* to) {
  return HWY_DYNAMIC_DISPATCH(gather_all)(values, count, step, to);
}

}  // namespace shoal::ops::cpu
#endif
