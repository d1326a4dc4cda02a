// Any bytes as a CSV file. Input: byte 0 picks separator, kind of target and what missing cells
// become, the rest is the file; its label is the column y.
#include "tests/fuzz/data_file.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::DataFile file("csv");
  if (size == 0) {
    return 0;
  }
  file.write({data + 1, size - 1});
  const unsigned how = data[0];
  fuzz::use_dataset("csv", {{"train_file", file.path()},
                            {"label", std::string("y")},
                            {"separator", std::string((how & 1U) != 0 ? "tab" : ",")},
                            {"target", std::string((how & 2U) != 0 ? "real" : "class")},
                            {"missing", std::string((how & 4U) != 0 ? "mean" : "refuse")}});
  return 0;
}
