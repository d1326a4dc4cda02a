#include "ops/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "ops/base/check.h"

namespace shoal::ops::safetensors {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 40U;

std::size_t item_bytes(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::size_t> kSizes[] = {
      {"F64", 8},  {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
      {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
  const auto* found = std::find_if(std::begin(kSizes), std::end(kSizes),
                                   [&](const auto& entry) { return entry.first == dtype; });
  return found == std::end(kSizes) ? 0 : found->second;
}

Error broken(const std::string& what) { return data_error("this is no safetensors file: " + what); }

/// A list of whole numbers in [0, kElementsMax]; empty optional for anything else.
std::optional<std::vector<std::int64_t>> read_numbers(const Json& list, std::size_t count_max) {
  if (!list.is_array() || list.size() > count_max) {
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers;
  for (const auto& item : list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > kElementsMax) {
      return std::nullopt;
    }
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

/// Product of the shape, or empty when it is beyond kElementsMax.
std::optional<std::uint64_t> product(const std::vector<std::int64_t>& shape) {
  std::uint64_t total = 1;
  for (const auto d : shape) {
    const auto dim = static_cast<std::uint64_t>(d);
    if (dim != 0 && total > kElementsMax / dim) {
      return std::nullopt;
    }
    total *= dim;
  }
  return total;
}

Result<Tensor> read_tensor(const std::string& name, const Json& entry, ByteSpan data) {
  const auto field = [&](const char* key) -> const Json& {
    static const Json kNone;
    const auto it = entry.find(key);
    return it == entry.end() ? kNone : *it;
  };
  if (!entry.is_object()) {
    return broken("the entry of " + name + " is no object");
  }
  Tensor tensor;
  const Json& dtype = field("dtype");
  tensor.dtype = dtype.is_string() ? dtype.get<std::string>() : "";
  const std::size_t item = item_bytes(tensor.dtype);
  if (item == 0) {
    return broken(name + " has the unknown dtype \"" + tensor.dtype + "\"");
  }
  auto shape = read_numbers(field("shape"), kRankMax);
  const auto elements = shape ? product(*shape) : std::nullopt;
  if (!elements) {
    return broken("the shape of " + name + " is not a list of possible sizes");
  }
  tensor.shape = std::move(*shape);
  const auto offsets = read_numbers(field("data_offsets"), 2);
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] ||
      static_cast<std::uint64_t>((*offsets)[1]) > data.size()) {
    return broken("the data of " + name + " lies outside the file, which may be cut short");
  }
  const auto begin = static_cast<std::size_t>((*offsets)[0]);
  const auto end = static_cast<std::size_t>((*offsets)[1]);
  if (end - begin != *elements * item) {
    return broken(name + " has " + std::to_string(end - begin) + " bytes where its shape needs " +
                  std::to_string(*elements * item));
  }
  tensor.data = data.subspan(begin, end - begin);
  return tensor;
}

/// Errors: kData when a byte of `data` belongs to no tensor or to two.
Status check_cover(const File& file, ByteSpan data) {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  for (const auto& [name, tensor] : file.tensors) {
    const auto begin = static_cast<std::size_t>(tensor.data.data() - data.data());
    spans.emplace_back(begin, begin + tensor.data.size());
  }
  std::sort(spans.begin(), spans.end());
  std::size_t expected = 0;
  for (const auto& [begin, end] : spans) {
    if (begin != expected) {
      return broken(begin < expected ? "two tensors overlap" : "there is a hole between tensors");
    }
    expected = end;
  }
  if (expected != data.size()) {
    return broken("there are " + std::to_string(data.size() - expected) +
                  " bytes after the last tensor");
  }
  return {};
}

Result<Json> read_header(ByteSpan text) {
  std::set<std::string, std::less<>> seen;
  bool repeated = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& key) {
    if (event == Json::parse_event_t::key && depth == 1) {
      repeated = !seen.insert(key.get<std::string>()).second || repeated;
    }
    return true;
  };
  const auto* begin = reinterpret_cast<const char*>(text.data());
  Json header = Json::parse(begin, begin + text.size(), watch, false);
  if (header.is_discarded() || !header.is_object()) {
    return broken("its header is not a JSON object");
  }
  if (repeated) {
    return broken("a name stands twice in its header");
  }
  return header;
}

}  // namespace

std::size_t Tensor::elements() const {
  std::size_t total = 1;
  for (const auto d : shape) {
    total *= static_cast<std::size_t>(d);
  }
  return total;
}

Status File::read_f32(std::string_view name, std::span<const std::int64_t> shape,
                      std::span<float> out) const {
  const auto it = tensors.find(name);
  if (it == tensors.end()) {
    return data_error("the file holds no tensor " + std::string(name));
  }
  const Tensor& tensor = it->second;
  const bool counter = tensor.dtype == "I64";
  if (tensor.dtype != "F32" && !counter) {
    return data_error("tensor " + std::string(name) + " is " + tensor.dtype + ", not F32");
  }
  const bool same =
      std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end()) ||
      (counter && tensor.shape.empty());
  if ((!shape.empty() && !same) || tensor.elements() != out.size()) {
    return data_error("tensor " + std::string(name) + " has another shape than the model's; is " +
                      "the file from another model?");
  }
  if (counter) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::int64_t value = 0;
      std::memcpy(&value, tensor.data.data() + i * sizeof value, sizeof value);
      out[i] = static_cast<float>(value);
    }
  } else if (!out.empty()) {
    std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
  }
  return {};
}

Result<File> parse(ByteSpan bytes) {
  ByteReader reader(bytes);
  std::uint64_t header_bytes = 0;
  ByteSpan text;
  if (!reader.get(header_bytes)) {
    return broken("it is shorter than 8 bytes");
  }
  if (header_bytes > kHeaderBytesMax) {
    return broken("its header claims " + std::to_string(header_bytes) + " bytes, more than " +
                  std::to_string(kHeaderBytesMax));
  }
  if (!reader.get_bytes(static_cast<std::size_t>(header_bytes), text)) {
    return broken("it is cut short within its header");
  }
  SHOAL_ASSIGN(const Json header, read_header(text));
  File file;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      SHOAL_ASSIGN(Tensor tensor, read_tensor(name, entry, reader.rest()));
      file.tensors.emplace(name, std::move(tensor));
      continue;
    }
    if (!entry.is_object()) {
      return broken("its __metadata__ is no object");
    }
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) {
        return broken("its __metadata__ holds something that is no string");
      }
      file.metadata.emplace(key, value.get<std::string>());
    }
  }
  SHOAL_TRY(check_cover(file, reader.rest()));
  return file;
}

void Writer::add_tensor(std::string name, Tensor tensor) {
  SHOAL_CHECK(tensor.elements() * item_bytes(tensor.dtype) == tensor.data.size(),
              "a tensor's data has the size of its shape");
  const bool added = tensors_.emplace(std::move(name), std::move(tensor)).second;
  SHOAL_CHECK(added, "each tensor of a file has its own name");
}

void Writer::add(std::string name, std::vector<std::int64_t> shape, std::span<const float> data) {
  add_tensor(std::move(name), {"F32", std::move(shape), std::as_bytes(data)});
}

void Writer::add_counter(std::string name, std::int64_t value) {
  counters_.push_back(value);
  add_tensor(std::move(name), {"I64", {}, std::as_bytes(std::span(&counters_.back(), 1))});
}

void Writer::add_bytes(std::string name, ByteSpan data) {
  add_tensor(std::move(name), {"U8", {static_cast<std::int64_t>(data.size())}, data});
}

void Writer::set_metadata(std::string key, std::string value) {
  metadata_.insert_or_assign(std::move(key), std::move(value));
}

void Writer::write(ByteWriter& out) const {
  std::vector<const std::pair<const std::string, Tensor>*> order;
  for (const auto& entry : tensors_) {
    order.push_back(&entry);
  }
  // Wide items first, so that every float is aligned however long the byte tensors are.
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return item_bytes(a->second.dtype) > item_bytes(b->second.dtype);
  });
  Json header = Json::object();
  if (!metadata_.empty()) {
    header["__metadata__"] = metadata_;
  }
  std::uint64_t offset = 0;
  for (const auto* entry : order) {
    const auto& tensor = entry->second;
    const std::uint64_t end = offset + tensor.data.size();
    header[entry->first] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  out.put(static_cast<std::uint64_t>(text.size()));
  out.put_bytes(std::as_bytes(std::span(text)));
  for (const auto* entry : order) {
    out.put_bytes(entry->second.data);
  }
}

}  // namespace shoal::ops::safetensors
