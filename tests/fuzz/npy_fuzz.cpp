// Any bytes as NPY files. Input: byte 0 times 4 is how many of the bytes are the samples, the rest
// are the targets; 0: all are both.
#include "tests/fuzz/data_file.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::DataFile x("x.npy");
  static const fuzz::DataFile y("y.npy");
  if (size == 0) {
    return 0;
  }
  const std::span all(data + 1, size - 1);
  const std::size_t cut = std::min(all.size(), std::size_t{data[0]} * 4);
  x.write(cut == 0 ? all : all.first(cut));
  y.write(all.subspan(cut));
  fuzz::use_dataset("npy", {{"x", x.path()}, {"y", y.path()}});
  return 0;
}
