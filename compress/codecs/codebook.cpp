// A book of a few values that suit the granule, found by k-means, and an index for each value.
//
// A granule: u8 bits and f32 max, the largest magnitude; unless that is 0: 2^bits entries, i16 each
// in ascending order, an entry c meaning (c / 2^14) * max, and planes (see planes.h) of indices.
//
// The book is found on a histogram of 2049 bins by integer arithmetic alone: Lloyd's iteration from
// the ranks of the values, from entries spread evenly over the range, which suit few and far ones,
// and from half-way between, which is near the best for normal values; what errs least stands.
// Source: Lloyd, "Least squares quantization in PCM", IEEE Trans. Information Theory 28(2), 1982,
// method I.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/codebook.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

std::uint32_t codebook_abs_max(const float* x, std::size_t count) {
  return lanes_abs_max(x, count);
}

/// bins[i] = nearest integer to x[i] / max * half, ties to even, plus half.
void codebook_bins(const float* x, std::size_t count, float max, std::uint32_t half,
                   std::uint16_t* bins) {
  const Floats floats;
  const Words words;
  const hn::Rebind<std::uint16_t, Floats> halves;
  const std::size_t step = hn::Lanes(floats);
  const auto maxes = hn::Set(floats, max);
  const auto factor = hn::Set(floats, static_cast<float>(half));
  const auto magic = hn::Set(floats, kRoundingMagic);
  const auto zero_bits = hn::Set(words, kRoundingMagicBits - half);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto scaled = hn::Mul(hn::Div(hn::LoadU(floats, x + i), maxes), factor);
    const auto bits = hn::BitCast(words, hn::Add(scaled, magic));
    hn::StoreU(hn::TruncateTo(halves, hn::Sub(bits, zero_bits)), halves, bins + i);
  }
  for (; i < count; ++i) {
    const std::int32_t bin = nearest_even(x[i] / max * static_cast<float>(half));
    bins[i] = static_cast<std::uint16_t>(bin + static_cast<std::int32_t>(half));
  }
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <array>

#include "compress/codec.h"
#include "compress/codecs/common.h"
#include "compress/planes.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(codebook_abs_max);
HWY_EXPORT(codebook_bins);

constexpr unsigned kBitsMin = 2;
constexpr unsigned kBitsMax = 8;
constexpr std::size_t kEntriesMax = std::size_t{1} << kBitsMax;
constexpr int kHalf = 1024;  ///< bins on either side of zero
constexpr std::size_t kBins = 2 * kHalf + 1;
constexpr int kEntryUnit = 16;  ///< entries are in sixteenths of a bin
constexpr int kEntryMax = kHalf * kEntryUnit;
static_assert(kEntryMax == 1 << 14);
constexpr int kRounds = 16;

/// Sums over the bins below each: how many values, and their bins' places and squares of those.
class Histogram {
 public:
  explicit Histogram(std::span<const std::uint16_t> bins) {
    std::array<std::int32_t, kBins> counts{};
    for (const std::uint16_t bin : bins) {
      ++counts[bin];
    }
    for (std::size_t b = 0; b < kBins; ++b) {
      const std::int64_t place = static_cast<std::int64_t>(b) - kHalf;
      count_[b + 1] = count_[b] + counts[b];
      sum_[b + 1] = sum_[b] + counts[b] * place;
      squares_[b + 1] = squares_[b] + counts[b] * place * place;
    }
  }

  [[nodiscard]] std::int64_t count(std::size_t begin, std::size_t end) const {
    return count_[end] - count_[begin];
  }
  /// The entry nearest to the mean of these bins, ties up. Requires: some value in them.
  [[nodiscard]] std::int32_t mean(std::size_t begin, std::size_t end) const {
    const std::int64_t twice = 2 * kEntryUnit * (sum_[end] - sum_[begin]);
    const std::int64_t n = count(begin, end);
    const std::int64_t shifted = twice + n + 2 * n * kEntryMax;  // positive: division rounds down
    return static_cast<std::int32_t>(shifted / (2 * n)) - kEntryMax;
  }
  /// Squared error, in squares of an entry's unit, when these bins' values become `entry`.
  [[nodiscard]] std::int64_t error(std::size_t begin, std::size_t end, std::int32_t entry) const {
    const std::int64_t e = entry;
    return kEntryUnit * kEntryUnit * (squares_[end] - squares_[begin]) -
           2 * kEntryUnit * e * (sum_[end] - sum_[begin]) + e * e * count(begin, end);
  }
  /// The bin of the value that `rank` others lie below.
  [[nodiscard]] std::size_t bin_of_rank(std::int64_t rank) const {
    const auto above = std::upper_bound(count_.begin(), count_.end(), rank);
    return static_cast<std::size_t>(above - count_.begin()) - 1;
  }

 private:
  std::array<std::int64_t, kBins + 1> count_{};
  std::array<std::int64_t, kBins + 1> sum_{};
  std::array<std::int64_t, kBins + 1> squares_{};
};

/// Entries in ascending order, and where the bins of each begin.
class Book {
 public:
  explicit Book(unsigned bits) : size_(std::size_t{1} << bits) {}

  /// A place to start from: entries at the ranks of the values, or spread evenly over the range
  /// (zero and as many steps to either side as there is room for, the last twice), or half-way.
  enum class Start { kRanks, kEven, kBetween };
  void start(Start where, const Histogram& values, std::size_t count) {
    const auto steps = static_cast<std::int32_t>(size_ / 2 - 1);
    for (std::size_t j = 0; j < size_; ++j) {
      const std::size_t bin =
          values.bin_of_rank(static_cast<std::int64_t>((2 * j + 1) * count / (2 * size_)));
      const std::int32_t ranked = (static_cast<std::int32_t>(bin) - kHalf) * kEntryUnit;
      const std::int32_t step = std::min(static_cast<std::int32_t>(j) - steps, steps);
      const std::int32_t even = step * kEntryMax / steps;
      entries_[j] = where == Start::kRanks  ? ranked
                    : where == Start::kEven ? even
                                            : (ranked + even) / 2;
    }
  }

  /// Lloyd's iteration; entries without values stay where they are. Returns the squared error.
  std::int64_t improve(const Histogram& values) {
    bool moved = true;
    for (int round = 0; round < kRounds && moved; ++round) {
      moved = false;
      find_borders();
      for (std::size_t j = 0; j < size_; ++j) {
        if (values.count(begin_[j], begin_[j + 1]) > 0) {
          const std::int32_t mean = values.mean(begin_[j], begin_[j + 1]);
          moved = moved || mean != entries_[j];
          entries_[j] = mean;
        }
      }
    }
    find_borders();
    std::int64_t error = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      error += values.error(begin_[j], begin_[j + 1], entries_[j]);
    }
    return error;
  }

  [[nodiscard]] std::span<const std::int32_t> entries() const {
    return std::span(entries_).first(size_);
  }
  /// The index of each bin's entry.
  void index(std::span<std::uint8_t, kBins> of_bin) const {
    for (std::size_t j = 0; j < size_; ++j) {
      std::fill(of_bin.begin() + static_cast<std::ptrdiff_t>(begin_[j]),
                of_bin.begin() + static_cast<std::ptrdiff_t>(begin_[j + 1]),
                static_cast<std::uint8_t>(j));
    }
  }

 private:
  /// A bin belongs to the nearer of two entries, half-way to the lower.
  void find_borders() {
    begin_[0] = 0;
    for (std::size_t j = 1; j < size_; ++j) {
      // Of the first bin above half-way; the shift rounds down, of negative numbers too.
      const std::int32_t place = ((entries_[j - 1] + entries_[j]) >> 5) + 1;
      static_assert(2 * kEntryUnit == 1 << 5);
      begin_[j] = std::max(begin_[j - 1],
                           std::min<std::size_t>(static_cast<std::size_t>(place + kHalf), kBins));
    }
    begin_[size_] = kBins;
  }

  std::size_t size_;
  std::array<std::int32_t, kEntriesMax> entries_{};
  std::array<std::size_t, kEntriesMax + 1> begin_{};
};

Book find_book(std::span<const std::uint16_t> bins, unsigned bits) {
  const Histogram values(bins);
  Book best(bits);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const auto where : {Book::Start::kRanks, Book::Start::kEven, Book::Start::kBetween}) {
    Book book(bits);
    book.start(where, values, bins.size());
    if (const std::int64_t error = book.improve(values); error < least) {
      least = error;
      best = book;
    }
  }
  return best;
}

float entry_value(std::int16_t entry, float max) {
  return static_cast<float>(entry) / static_cast<float>(kEntryMax) * max;
}

class Codebook final : public Codec {
 public:
  explicit Codebook(std::uint8_t bits) : bits_(bits) {}
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sizeof(bits_) + sizeof(float) + body_bytes(elements, bits_);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    SHOAL_CHECK(!x.empty() && x.size() <= kGranule, "a granule at a time");
    const std::uint32_t max = HWY_DYNAMIC_DISPATCH(codebook_abs_max)(x.data(), x.size());
    if (max >= kInfBits) {
      return not_finite_error(x);
    }
    out.put(bits_);
    out.put(float_of(max));
    if (max == 0) {
      return {};
    }
    std::array<std::uint16_t, kGranule> bin_room;
    const auto bins = std::span(bin_room).first(x.size());
    HWY_DYNAMIC_DISPATCH(codebook_bins)(x.data(), x.size(), float_of(max), kHalf, bins.data());
    const Book book = find_book(bins, bits_);
    for (const std::int32_t entry : book.entries()) {
      out.put(static_cast<std::int16_t>(entry));
    }
    std::array<std::uint8_t, kBins> index;
    book.index(index);
    std::array<std::uint8_t, kGranule> code_room;
    const auto codes = std::span(code_room).first(x.size());
    std::transform(bins.begin(), bins.end(), codes.begin(),
                   [&index](std::uint16_t bin) { return index[bin]; });
    put_planes(codes, bits_, out.grow(planes_bytes(x.size(), bits_)));
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    SHOAL_CHECK(!acc.empty() && acc.size() <= kGranule, "a granule at a time");
    std::uint8_t bits = 0;
    float max = 0;
    if (!in.get(bits) || !in.get(max)) {
      return truncated_error("codebook");
    }
    if (bits < kBitsMin || bits > kBitsMax || !scale_valid(max, 1)) {
      return foreign_error("codebook", "an impossible size of the book or largest value");
    }
    if (max == 0) {
      return {};
    }
    std::array<float, kEntriesMax> products;
    SHOAL_TRY(read_book(in, std::size_t{1} << bits, max, scale, products));
    ByteSpan planes;
    if (!in.get_bytes(planes_bytes(acc.size(), bits), planes)) {
      return truncated_error("codebook");
    }
    std::array<std::uint8_t, kGranule> room;
    if (!get_planes(planes, bits, std::span(room).first(acc.size()))) {
      return foreign_error("codebook", "padding that is not zero");
    }
    for (std::size_t i = 0; i < acc.size(); ++i) {
      acc[i] += products[room[i]];
    }
    return {};
  }

 private:
  static std::size_t body_bytes(std::size_t elements, unsigned bits) {
    return (std::size_t{1} << bits) * sizeof(std::int16_t) + planes_bytes(elements, bits);
  }

  /// scale * value of each entry, rounded.
  static Status read_book(ByteReader& in, std::size_t size, float max, float scale,
                          std::span<float> products) {
    std::int16_t before = -kEntryMax;
    for (std::size_t j = 0; j < size; ++j) {
      std::int16_t entry = 0;
      if (!in.get(entry)) {
        return truncated_error("codebook");
      }
      if (entry < before || entry > kEntryMax) {
        return foreign_error("codebook", "entries out of order or range");
      }
      before = entry;
      products[j] = scale * entry_value(entry, max);
    }
    return {};
  }

  std::uint8_t bits_;
  // No contraction is declared: what the histogram rounds away has no bound of that kind.
  Properties properties_{.wire_id = 11};
};

}  // namespace

CodecEntry codebook_entry() {
  OptionSpec bits{.name = "bits",
                  .type = OptionType::kInt,
                  .default_value = std::int64_t{4},
                  .help = "of an index: the book has 2^bits values",
                  .minimum = kBitsMin,
                  .maximum = kBitsMax,
                  .choices = {},
                  .scope = Scope::kPeer};
  return {"codebook",
          "indices into a few values found by k-means for each granule",
          {std::move(bits)},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<Codebook>(static_cast<std::uint8_t>(options.get_int("bits")));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
