// Any bytes as a file of CIFAR's binary versions. Byte 0 picks which; the rest is the file.
#include <cstdint>
#include <cstdlib>

#include "node/data/cifar.h"
#include "ops/base/check.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const ByteSpan bytes = std::as_bytes(std::span(data + 1, size - 1));
  const node::CifarRecord record =
      data[0] % 2 == 0 ? node::CifarRecord{1, 10} : node::CifarRecord{2, 100};
  std::vector<std::int32_t> labels;
  if (!node::read_cifar_labels(*node::memory_source(bytes), record, labels).ok()) {
    return 0;
  }
  SHOAL_CHECK(labels.size() * (record.label_bytes + node::kCifarPixels) == bytes.size(),
              "records are all of the file");
  for (const auto label : labels) {
    SHOAL_CHECK(label >= 0 && label < record.classes, "a label is a class");
  }
  const std::vector<std::uint32_t> last = {static_cast<std::uint32_t>(labels.size() - 1)};
  const auto held = node::Held::make(last, static_cast<std::uint32_t>(labels.size()), "fuzz");
  std::vector<std::uint8_t> pixels;
  const auto behind =
      node::read_cifar_pixels(*node::memory_source(bytes), record, 0, *held, pixels);
  SHOAL_CHECK(behind.ok() && *behind == labels.size() && pixels.size() == node::kCifarPixels,
              "one image was wanted");
  return 0;
}
