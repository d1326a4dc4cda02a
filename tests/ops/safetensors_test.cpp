#include "ops/safetensors.h"

#include <cmath>
#include <cstring>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::safetensors {
namespace {

std::vector<std::byte> file_of(const std::string& header, std::size_t data_bytes) {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(header.size()));
  out.put_bytes(std::as_bytes(std::span(header)));
  out.grow(data_bytes);
  return out.take();
}

std::string refused(const std::string& header, std::size_t data_bytes) {
  const auto bytes = file_of(header, data_bytes);
  const auto file = parse(bytes);
  INFO(header);
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().code == Code::kData);
  return file.error().message;
}

bool says(const std::string& sentence, const std::string& part) {
  INFO(sentence);
  return sentence.find(part) != std::string::npos;
}

std::vector<std::byte> sample_file() {
  const std::vector<float> weight = {1, -2.5F, 3, 0, -0.0F, 1e-40F};
  const std::vector<float> scalar = {7};
  const std::vector<std::byte> raw(5, std::byte{9});
  Writer writer;
  writer.add("fc1.weight", {2, 3}, weight);
  writer.add("a.scalar", {}, scalar);
  writer.add("empty", {0, 4}, {});
  writer.add_bytes("blob", raw);
  writer.set_metadata("round", "12");
  ByteWriter out;
  writer.write(out);
  return out.take();
}

TEST_CASE("what is written is read back, to the bit") {
  const auto bytes = sample_file();
  const auto file = parse(bytes);
  REQUIRE(file.ok());
  CHECK(file->tensors.size() == 4);
  CHECK(file->metadata.at("round") == "12");
  std::vector<float> weight(6);
  REQUIRE(file->read_f32("fc1.weight", std::vector<std::int64_t>{2, 3}, weight).ok());
  CHECK(weight[1] == -2.5F);
  CHECK(std::signbit(weight[4]));
  CHECK(weight[5] == 1e-40F);
  std::vector<float> scalar(1);
  CHECK(file->read_f32("a.scalar", {}, scalar).ok());
  CHECK(file->read_f32("empty", {}, {}).ok());
  CHECK(file->tensors.at("blob").data.size() == 5);
  CHECK(sample_file() == bytes);
  // Floats lie aligned, so that the file may be mapped.
  const auto* start = file->tensors.at("fc1.weight").data.data();
  CHECK((start - bytes.data()) % 4 == 0);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  CHECK(header % 8 == 0);
}

TEST_CASE("a file as other programs write it is read") {
  const auto bytes = file_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}   )",
      8);
  const auto file = parse(bytes);
  REQUIRE(file.ok());
  CHECK(file->metadata.at("format") == "pt");
  CHECK(file->tensors.at("a").dtype == "BF16");
  std::vector<float> b(1);
  CHECK(file->read_f32("b", {}, b).ok());
}

TEST_CASE("a counter is an integer without dimensions, and is read as a number") {
  Writer writer;
  writer.add_counter("bn.num_batches_tracked", 7);
  ByteWriter out;
  writer.write(out);
  const auto file = parse(out.span());
  REQUIRE(file.ok());
  CHECK(file->tensors.at("bn.num_batches_tracked").dtype == "I64");
  CHECK(file->tensors.at("bn.num_batches_tracked").shape.empty());
  std::vector<float> one(1);
  const std::vector<std::int64_t> shape{1};
  REQUIRE(file->read_f32("bn.num_batches_tracked", shape, one).ok());
  CHECK(one[0] == 7);
  std::vector<float> two(2);
  const std::vector<std::int64_t> wide{2};
  CHECK_FALSE(file->read_f32("bn.num_batches_tracked", wide, two).ok());
}

TEST_CASE("asking for what is not there names it") {
  const auto bytes = sample_file();
  const auto file = parse(bytes);
  REQUIRE(file.ok());
  std::vector<float> six(6);
  CHECK(says(file->read_f32("fc9", {}, six).error().message, "fc9"));
  CHECK(says(file->read_f32("blob", {}, six).error().message, "U8"));
  const std::vector<std::int64_t> turned = {3, 2};
  CHECK(says(file->read_f32("fc1.weight", turned, six).error().message, "shape"));
  std::vector<float> five(5);
  CHECK_FALSE(file->read_f32("fc1.weight", {}, five).ok());
}

TEST_CASE("a file cut anywhere is refused") {
  const auto bytes = sample_file();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = parse(std::span(bytes).first(size));
    REQUIRE_FALSE(cut.ok());
    REQUIRE(cut.error().code == Code::kData);
  }
}

TEST_CASE("headers that lie are refused, each in its words") {
  const auto tensor = [](const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
    return R"({"t":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  CHECK(says(refused("[1]", 0), "JSON object"));
  CHECK(says(refused("{", 0), "JSON object"));
  CHECK(says(refused(R"({"t":1})", 0), "no object"));
  CHECK(says(refused(tensor("F31", "[1]", "[0,4]"), 4), "F31"));
  CHECK(says(refused(tensor("F32", "[1.5]", "[0,4]"), 4), "shape"));
  CHECK(says(refused(tensor("F32", "[-1]", "[0,4]"), 4), "shape"));
  CHECK(says(refused(tensor("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4), "shape"));
  CHECK(says(refused(tensor("F32", "[1099511627776,1099511627776]", "[0,4]"), 4), "shape"));
  CHECK(says(refused(tensor("F32", "3", "[0,4]"), 4), "shape"));
  CHECK(says(refused(tensor("F32", "[1]", "[0,8]"), 4), "outside"));
  CHECK(says(refused(tensor("F32", "[1]", "[4,0]"), 4), "outside"));
  CHECK(says(refused(tensor("F32", "[1]", "[0]"), 4), "outside"));
  CHECK(says(refused(tensor("F32", "[1]", "[0,18446744073709551615]"), 4), "outside"));
  CHECK(says(refused(tensor("F32", "[2]", "[0,4]"), 4), "needs 8"));
  CHECK(says(refused(tensor("F32", "[1]", "[0,4]"), 8), "after the last"));
  CHECK(says(refused(tensor("F32", "[1]", "[4,8]"), 8), "hole"));
  const std::string one = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  CHECK(says(refused(R"({"a":)" + one + R"(,"b":)" + one + "}", 4), "overlap"));
  CHECK(says(refused(R"({"a":)" + one + R"(,"a":)" + one + "}", 4), "twice"));
  CHECK(says(refused(R"({"__metadata__":{"a":1}})", 0), "__metadata__"));
  CHECK(says(refused(R"({"__metadata__":3})", 0), "__metadata__"));
  CHECK_FALSE(parse(file_of(std::string(100000, '['), 0)).ok());  // deep, and no stack overflow

  ByteWriter huge;
  huge.put(std::uint64_t{kHeaderBytesMax + 1});
  CHECK(says(parse(huge.span()).error().message, "claims"));
  ByteWriter endless;
  endless.put(~std::uint64_t{0});
  CHECK_FALSE(parse(endless.span()).ok());
}

TEST_CASE("flipped bits give an error or a file that is whole, never a crash") {
  const auto good = sample_file();
  Rng rng(shoal::tests::test_seed(30), 0);
  std::size_t refused_count = 0;
  for (int round = 0; round < 3000; ++round) {
    auto bytes = good;
    for (auto flips = 1 + rng.below(4); flips > 0; --flips) {
      bytes[static_cast<std::size_t>(rng.below(bytes.size()))] ^=
          static_cast<std::byte>(1U << rng.below(8));
    }
    const auto file = parse(bytes);
    if (!file.ok()) {
      ++refused_count;
      continue;
    }
    for (const auto& [name, tensor] : file->tensors) {
      REQUIRE((tensor.data.empty() ||
               (tensor.data.data() >= bytes.data() &&
                tensor.data.data() + tensor.data.size() <= bytes.data() + bytes.size())));
    }
  }
  CHECK(refused_count > 1000);
}

}  // namespace
}  // namespace shoal::ops::safetensors
