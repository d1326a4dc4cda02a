#include "ops/reference/large_pages.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/support/catch.h"

namespace shoal::ops::tests {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

std::uintptr_t address(const Storage& storage) {
  return reinterpret_cast<std::uintptr_t>(storage.data());
}

TEST_CASE("tensors smaller than a large page share one") {
  LargePages pages;
  const Storage a = pages.take(kMiB);
  const Storage b = pages.take(kMiB);
  const Storage c = pages.take(3 * kMiB);
  REQUIRE(a.data() != nullptr);
  CHECK(address(a) / LargePages::kPage == address(b) / LargePages::kPage);
  for (const Storage* one : {&a, &b, &c}) {
    CHECK(address(*one) % LargePages::kLine == 0);
    std::memset(one->data(), 1, one->bytes());
  }
  CHECK(address(a) + a.bytes() <= address(b));
  CHECK(address(b) + b.bytes() <= address(c));
}

TEST_CASE("what gains nothing by large pages is not taken from them") {
  LargePages pages;
  CHECK(pages.take(0).data() == nullptr);
  CHECK(pages.take(kMiB - 1).data() == nullptr);
  CHECK(pages.take(1024 * kMiB).data() == nullptr);
}

TEST_CASE("neighbours keep what they hold when a tensor is given back") {
  LargePages pages;
  std::vector<Storage> held;
  for (int i = 0; i < 100; ++i) {  // more than one region
    held.push_back(pages.take(kMiB));
    REQUIRE(held.back().data() != nullptr);
    std::memset(held.back().data(), i, kMiB);
  }
  for (std::size_t i = 0; i < held.size(); i += 2) {
    held[i] = Storage();
  }
  for (std::size_t i = 1; i < held.size(); i += 2) {
    const auto* bytes = static_cast<const unsigned char*>(held[i].data());
    CHECK(bytes[0] == i);
    CHECK(bytes[kMiB - 1] == i);
  }
  held.clear();
  CHECK(pages.take(kMiB).data() != nullptr);
}

}  // namespace
}  // namespace shoal::ops::tests
