#include "node/data/cifar.h"

#include <span>
#include <string>

namespace shoal::node {
namespace {

/// The next record; false at the end of the file.
Result<bool> read_record(ByteSource& source, std::size_t number, std::span<std::byte> out) {
  SHOAL_ASSIGN(const std::size_t got, source.read_up_to(out));
  if (got != 0 && got != out.size()) {
    return data_error("ends inside record " + std::to_string(number) + ": " + std::to_string(got) +
                      " of " + std::to_string(out.size()) + " bytes");
  }
  return got != 0;
}

}  // namespace

Status read_cifar_labels(ByteSource& source, const CifarRecord& record,
                         std::vector<std::int32_t>& labels) {
  std::vector<std::byte> bytes(record.label_bytes + kCifarPixels);
  for (std::size_t number = 0;; ++number) {
    SHOAL_ASSIGN(const bool more, read_record(source, number, bytes));
    if (!more) {
      return number > 0 ? Status{} : data_error("is empty");
    }
    const auto label = std::to_integer<std::int32_t>(bytes[record.label_bytes - 1]);
    if (label >= record.classes) {
      return data_error("has label " + std::to_string(label) + " in record " +
                        std::to_string(number) + ", but there are " +
                        std::to_string(record.classes) + " classes");
    }
    labels.push_back(label);
  }
}

Result<std::uint32_t> read_cifar_pixels(ByteSource& source, const CifarRecord& record,
                                        std::uint32_t first, const Held& wanted,
                                        std::vector<std::uint8_t>& pixels) {
  std::vector<std::byte> bytes(record.label_bytes + kCifarPixels);
  for (std::uint32_t index = first;; ++index) {
    SHOAL_ASSIGN(const bool more, read_record(source, index - first, bytes));
    if (!more) {
      return index;
    }
    if (wanted.has(index)) {
      const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
      pixels.insert(pixels.end(), data + record.label_bytes, data + bytes.size());
    }
  }
}

}  // namespace shoal::node
