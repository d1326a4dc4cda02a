#include "node/data/byte_reals.h"

#include <numeric>
#include <vector>

#include "tests/ops/support/targets.h"
#include "tests/support/catch.h"

namespace shoal::tests {
namespace {

TEST_CASE("bytes become the same reals on every vector target, and nothing beside them") {
  std::vector<std::uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto affine = node::Affine::normal(0.2860, 0.3530);
  ops::tests::for_each_target([&] {
    for (const std::size_t count : {0U, 1U, 7U, 16U, 28U, 255U}) {
      std::vector<float> out(count + 1, -7.0F);
      node::put_reals(bytes.data() + 1, count, affine, out.data());
      for (std::size_t i = 0; i < count; ++i) {
        const float product = static_cast<float>(i + 1) * affine.scale;
        REQUIRE(out[i] == product + affine.offset);
      }
      REQUIRE(out[count] == -7.0F);
    }
  });
}

}  // namespace
}  // namespace shoal::tests
