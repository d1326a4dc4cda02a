#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ops/backend.h"
#include "ops/cuda/table.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

// What can be told of libshoal_cuda.so without a GPU: that its table is whole, and for which
// devices it holds code.
namespace shoal::ops::tests {
namespace {

/// The table of the library, or null where none is built.
const ShoalCudaTable* table_or_null() {
  void* library = ::dlopen(SHOAL_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    WARN("skipped, the library is not built here");
    CHECK_FALSE(make_cuda_backend().ok());
    return nullptr;
  }
  const auto function =
      reinterpret_cast<ShoalCudaTableFunction>(::dlsym(library, SHOAL_CUDA_TABLE_SYMBOL));
  REQUIRE(function != nullptr);
  return function();
}

TEST_CASE("the CUDA library's table has no hole") {
  const ShoalCudaTable* table = table_or_null();
  if (table == nullptr) {
    return;
  }
  CHECK(table->version == SHOAL_CUDA_TABLE_VERSION);
  REQUIRE(table->bytes == sizeof(ShoalCudaTable));
  // Behind both numbers lie pointers only.
  constexpr std::size_t kFirst = offsetof(ShoalCudaTable, error_text);
  for (std::size_t at = kFirst; at < sizeof(ShoalCudaTable); at += sizeof(void*)) {
    void* entry = nullptr;
    std::memcpy(&entry, reinterpret_cast<const char*>(table) + at, sizeof entry);
    INFO("byte " << at);
    CHECK(entry != nullptr);
  }
}

/// Code for one device: kind 1 is PTX, 2 is machine code.
struct Code {
  std::uint16_t kind;
  std::uint32_t architecture;
  friend bool operator==(const Code&, const Code&) = default;
};

template <typename T>
T number_at(const std::string& bytes, std::size_t at) {
  REQUIRE(at + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// What nvcc packed for each source: a header (magic, version, its size, size of what follows), and
/// for each device one of its own (kind at 0, its size at 4, size of the code at 8, architecture at
/// 28) before the code.
std::vector<std::vector<Code>> packed_code(const std::string& bytes) {
  std::vector<std::vector<Code>> all;
  const std::string magic = "\x50\xED\x55\xBA";
  for (auto at = bytes.find(magic); at != std::string::npos; at = bytes.find(magic, at + 4)) {
    std::size_t next = at + number_at<std::uint16_t>(bytes, at + 6);
    const std::size_t end = next + number_at<std::uint64_t>(bytes, at + 8);
    std::vector<Code> codes;
    while (next + 32 <= end) {
      codes.push_back(
          {number_at<std::uint16_t>(bytes, next), number_at<std::uint32_t>(bytes, next + 28)});
      const std::uint64_t step =
          number_at<std::uint32_t>(bytes, next + 4) + number_at<std::uint64_t>(bytes, next + 8);
      REQUIRE(step > 0);
      next += step;
    }
    all.push_back(std::move(codes));
  }
  return all;
}

TEST_CASE("the CUDA library holds code for sm_80 and sm_90, and PTX for what comes after") {
  const ShoalCudaTable* table = table_or_null();
  if (table == nullptr) {
    return;
  }
  Dl_info place{};
  REQUIRE(::dladdr(reinterpret_cast<const void*>(table), &place) != 0);
  std::ifstream in(place.dli_fname, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::size_t whole = 0;
  for (const auto& codes : packed_code(bytes)) {
    const auto has = [&](const Code& code) {
      return std::find(codes.begin(), codes.end(), code) != codes.end();
    };
    whole += has({1, 80}) && has({2, 80}) && has({2, 90}) ? 1 : 0;
  }
  std::size_t sources = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(shoal::tests::source_path("ops/cuda"))) {
    sources += entry.path().extension() == ".cu" ? 1 : 0;
  }
  CHECK(sources > 0);
  CHECK(whole == sources);
}

}  // namespace
}  // namespace shoal::ops::tests
