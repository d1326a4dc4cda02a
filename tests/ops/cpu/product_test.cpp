#include "ops/cpu/product.h"

#include <cmath>
#include <limits>

#include "ops/cpu/terms.h"
#include "tests/ops/support/random.h"
#include "tests/ops/support/targets.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

/// A matrix in memory whose rows are longer than they need to be.
struct Stored {
  std::size_t stride;
  std::vector<float> values;
  bool transposed;

  Stored(std::size_t rows, std::size_t cols, bool transposed_in, Rng& rng)
      : stride((transposed_in ? rows : cols) + rng.below(3)),
        values(random_vector<float>(rng, stride * (transposed_in ? cols : rows))),
        transposed(transposed_in) {}
  [[nodiscard]] double at(std::size_t row, std::size_t col) const {
    return static_cast<double>(transposed ? values[col * stride + row]
                                          : values[row * stride + col]);
  }
  [[nodiscard]] cpu::Matrix matrix() const { return {values.data(), stride, transposed}; }
};

/// A sum of k products (and what was there) in any order is off by at most (k + 1) eps times the
/// sum of its absolute terms.
void check_product(const Stored& a, const Stored& b, const std::vector<float>& c,
                   std::size_t c_stride, std::size_t m, std::size_t n, std::size_t k,
                   double before) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = before;
      double absolute = std::abs(before);
      for (std::size_t x = 0; x < k; ++x) {
        sum += a.at(i, x) * b.at(x, j);
        absolute += std::abs(a.at(i, x) * b.at(x, j));
      }
      const double bound = static_cast<double>(k + 1) * 6e-8 * absolute;
      REQUIRE(std::abs(static_cast<double>(c[i * c_stride + j]) - sum) <= bound);
    }
  }
}

/// A left side with zeros, of one transposition or the other; what lies beside the result stays.
void check_with_zeros(std::uint64_t percent, std::size_t n, bool a_turned, bool b_turned, Rng& rng,
                      cpu::ProductScratch& scratch) {
  const std::size_t m = 61;
  const std::size_t k = 137;
  Stored a(m, k, a_turned, rng);
  for (auto& value : a.values) {
    value = rng.below(100) < percent ? 0.0F : value;
  }
  const Stored b(k, n, b_turned, rng);
  std::vector<float> c(m * (n + 1), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < m; ++i) {
    c[i * (n + 1) + n] = 7;
  }
  cpu::product(a.matrix(), b.matrix(), c.data(), n + 1, m, n, k, false, scratch);
  INFO(percent << " % zeros, " << n << " columns, turned " << a_turned << b_turned);
  check_product(a, b, c, n + 1, m, n, k, 0);
  for (std::size_t i = 0; i < m; ++i) {
    REQUIRE(c[i * (n + 1) + n] == 7);
  }
}

TEST_CASE("a left side with zeros gives the same, whichever way is taken") {
  cpu::ProductScratch scratch;
  for_each_target([&] {
    Rng rng(test_seed(61), 0);
    for (const std::uint64_t percent : {0U, 30U, 50U, 90U, 100U}) {
      for (const std::size_t n : {3U, 16U, 17U, 40U, 133U}) {
        for (const unsigned turned : {0U, 1U, 2U, 3U}) {
          check_with_zeros(percent, n, turned % 2 == 1, turned > 1, rng, scratch);
        }
      }
    }
  });
}

TEST_CASE("terms of a row: all but its zeros, in order") {
  for_each_target([&] {
    Rng rng(test_seed(63), 0);
    for (const std::size_t count : {0U, 1U, 15U, 16U, 37U}) {
      auto values = random_vector<float>(rng, count);
      for (std::size_t i = 0; i < count; i += 1 + rng.below(3)) {
        values[i] = rng.below(2) == 0 ? 0.0F : -0.0F;
      }
      std::vector<cpu::Term> terms(count + cpu::kTermSlack);
      const std::size_t found = cpu::gather_terms(values.data(), count, 3, terms.data());
      std::size_t at = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (values[i] != 0.0F) {
          REQUIRE(at < found);
          REQUIRE(terms[at].offset == 3 * i);
          REQUIRE(terms[at].factor == values[i]);
          ++at;
        }
      }
      REQUIRE(at == found);
    }
  });
}

TEST_CASE("a matrix transposed, any size, every vector target") {
  for_each_target([&] {
    Rng rng(test_seed(64), 0);
    for (const std::size_t rows : {1U, 4U, 7U, 16U, 35U}) {
      for (const std::size_t cols : {1U, 3U, 4U, 18U}) {
        const auto from = random_vector<float>(rng, rows * (cols + 1));
        std::vector<float> to(cols * (rows + 2), 7);
        cpu::transpose(from.data(), cols + 1, cols, rows, to.data(), rows + 2);
        for (std::size_t i = 0; i < cols; ++i) {
          for (std::size_t j = 0; j < rows + 2; ++j) {
            REQUIRE(to[i * (rows + 2) + j] == (j < rows ? from[j * (cols + 1) + i] : 7));
          }
        }
      }
    }
  });
}

TEST_CASE("products of our own, every transposition, any size and stride, every vector target") {
  cpu::ProductScratch scratch;
  for_each_target([&] {
    Rng rng(test_seed(60), 0);
    // Around the sides of a tile (6 rows, 1 to 4 vectors) and of the blocks (192, 256, 512).
    const std::size_t sizes[] = {1, 2, 5, 6, 7, 13, 16, 31, 33, 64, 65};
    for (int round = 0; round < 60; ++round) {
      const bool big = round % 20 == 19;
      const std::size_t m = big ? 200 : sizes[rng.below(11)];
      const std::size_t n = big ? 300 : sizes[rng.below(11)];
      const std::size_t k = big ? 520 : sizes[rng.below(11)];
      const Stored a(m, k, round % 2 == 1, rng);
      const Stored b(k, n, round % 4 > 1, rng);
      const bool add = round % 3 == 0;
      const std::size_t c_stride = n + 1;
      // What is replaced may be anything, NaN too; what lies between the rows stays.
      std::vector<float> c(m * c_stride, add ? 0.5F : std::numeric_limits<float>::quiet_NaN());
      for (std::size_t i = 0; i < m; ++i) {
        c[i * c_stride + n] = 7;
      }
      cpu::product(a.matrix(), b.matrix(), c.data(), c_stride, m, n, k, add, scratch);
      INFO(m << " x " << n << " x " << k);
      check_product(a, b, c, c_stride, m, n, k, add ? 0.5 : 0);
      for (std::size_t i = 0; i < m; ++i) {
        REQUIRE(c[i * c_stride + n] == 7);
      }
    }
  });
}

TEST_CASE("a product of no rows leaves everything as it was, every vector target") {
  static_assert(cpu::rows_of_tile(0) == 0);
  cpu::ProductScratch scratch;
  for_each_target([&] {
    Rng rng(test_seed(63), 0);
    cpu::PackedMatrix packed;
    // Sizes at which a left side is taken as it lies, laid out in tiles, and turned.
    for (const std::size_t n : {std::size_t{1}, std::size_t{300}}) {
      for (const bool turned : {false, true}) {
        const Stored a(256, 300, turned, rng);
        const Stored b(256, n, !turned, rng);
        std::vector<float> c(n, 7.0F);
        cpu::product({a.values.data(), 256, turned}, b.matrix(), c.data(), n, 0, n, 256, turned,
                     scratch);
        packed.pack(b.matrix(), 256, n);
        cpu::product({a.values.data(), 256, turned}, packed, c.data(), n, 0, n, 256, turned);
        REQUIRE(c == std::vector<float>(n, 7.0F));
      }
    }
  });
}

TEST_CASE("a left side whose rows lie pages apart, every vector target") {
  for_each_target([] {
    cpu::ProductScratch scratch;
    Rng rng(test_seed(61), 0);
    Stored a(1024, 70, true, rng);
    a.stride = 1024;
    const Stored b(70, 20, false, rng);
    // Blocks of 192 rows, the last with too few for a tile, with whole tiles, with tiles of 4
    // and 5.
    for (const std::size_t m : {1U, 4U, 5U, 7U, 194U, 256U}) {
      std::vector<float> c(m * 20);
      cpu::product(a.matrix(), b.matrix(), c.data(), 20, m, 20, 70, false, scratch);
      check_product(a, b, c, 20, m, 20, 70, 0);
    }
  });
}

TEST_CASE("a long left side and few columns, every vector target") {
  for_each_target([] {
    cpu::ProductScratch scratch;
    Rng rng(test_seed(65), 0);
    const Stored a(128, 70, true, rng);
    for (const std::size_t n : {1U, 2U, 8U, 9U}) {
      const Stored b(70, n, false, rng);
      std::vector<float> c(128 * n, std::numeric_limits<float>::quiet_NaN());
      cpu::product(a.matrix(), b.matrix(), c.data(), n, 128, n, 70, false, scratch);
      check_product(a, b, c, n, 128, n, 70, 0);
    }
  });
}

TEST_CASE("a right side packed once serves many products") {
  Rng rng(test_seed(62), 0);
  const Stored b(33, 70, true, rng);
  cpu::PackedMatrix packed;
  packed.pack(b.matrix(), 33, 70);
  for (const std::size_t m : {std::size_t{1}, std::size_t{10}}) {
    const Stored a(m, 33, false, rng);
    std::vector<float> c(m * 70, 1.0F);
    cpu::product(a.matrix(), packed, c.data(), 70, m, 70, 33, true);
    check_product(a, b, c, 70, m, 70, 33, 1);
  }
}

}  // namespace
}  // namespace shoal::ops::tests
