// Any bytes as a safetensors file: refused in words, or a file whose tensors lie inside it and that
// is read again after it was written.
#include <cstdint>
#include <string>
#include <vector>

#include "ops/base/check.h"
#include "ops/safetensors.h"

using namespace shoal;

namespace {

/// What was accepted, written by us and read back.
void write_again(const ops::safetensors::File& file) {
  std::vector<std::vector<float>> values;
  ops::safetensors::Writer writer;
  values.reserve(file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    if (tensor.dtype != "F32" || tensor.shape.empty()) {
      continue;
    }
    auto& floats = values.emplace_back(tensor.elements());
    SHOAL_CHECK(file.read_f32(name, tensor.shape, floats).ok(), "what is listed can be read");
    writer.add(name, tensor.shape, floats);
  }
  ByteWriter out;
  writer.write(out);
  const auto again = ops::safetensors::parse(out.span());
  SHOAL_CHECK(again.ok() && again->tensors.size() == values.size(), "what we write we read");
  for (const auto& [name, tensor] : again->tensors) {
    const auto& before = file.tensors.at(name);
    SHOAL_CHECK(tensor.shape == before.shape && tensor.data.size() == before.data.size(),
                "a tensor stays as it is");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  const auto file = ops::safetensors::parse(bytes);
  if (!file.ok()) {
    SHOAL_CHECK(file.error().code == Code::kData && !file.error().message.empty(),
                "files are refused in words");
    return 0;
  }
  std::size_t total = 0;
  for (const auto& [name, tensor] : file->tensors) {
    total += tensor.data.size();
    SHOAL_CHECK(tensor.data.empty() ||
                    (tensor.data.data() >= bytes.data() &&
                     tensor.data.data() + tensor.data.size() <= bytes.data() + bytes.size()),
                "a tensor lies in the file");
  }
  SHOAL_CHECK(total <= size, "tensors share no bytes");
  write_again(*file);
  return 0;
}
