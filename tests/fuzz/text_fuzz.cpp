// Any bytes as a text. Input: byte 0 is the context and whether tokens are bytes, the rest is the
// file.
#include "tests/fuzz/data_file.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::DataFile file("text");
  if (size == 0) {
    return 0;
  }
  file.write({data + 1, size - 1});
  fuzz::use_dataset("text", {{"path", file.path()},
                             {"context", std::int64_t{1 + data[0] / 2}},
                             {"tokens", std::string(data[0] % 2 == 0 ? "characters" : "bytes")},
                             {"test_fraction", 0.3}});
  return 0;
}
