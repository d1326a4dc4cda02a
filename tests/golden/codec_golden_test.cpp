// Encodings as they were when each codec was released. The file of a released wire id never
// changes: a new format is a new codec with an id of its own.
#include <filesystem>
#include <fstream>

#include "compress/lane.h"
#include "ops/base/hash.h"
#include "tests/compress/inputs.h"
#include "tests/golden/codec_vectors.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;

TEST_CASE("golden: codecs write and read what they always did", "[golden]") {
  for (const CodecEntry& entry : registry()) {
    const auto vectors = read_golden(entry);
    INFO((vectors.ok() ? entry.name : vectors.error().message));
    REQUIRE(vectors.ok());
    CHECK(vectors->size() >= (vectors->front().tensor.empty() ? 20U : 10U));
    for (const CodecVector& v : *vectors) {
      CAPTURE(entry.name, v.name, v.options);
      const auto codec = codec_of(entry, v);
      REQUIRE(codec.ok());
      const Sample sample = sample_of(**codec, v);
      CHECK((encoded(**codec, v.x, sample.context) == v.bytes));
      const Codec* reader = codec_by_wire_id((*codec)->properties().wire_id);
      const auto y = decoded(*reader, v.bytes, v.x.size(), sample.context);
      if (v.tensor.empty()) {
        CHECK(equal_bits(y, v.y));
      } else {
        CHECK(to_hex(hash_of(std::as_bytes(std::span(y))).span()) == v.hash);
      }
    }
  }
}

TEST_CASE("golden: truncated or with a bit flipped, they are refused or stay finite", "[golden]") {
  for (const CodecEntry& entry : registry()) {
    auto vectors = read_golden(entry);
    REQUIRE(vectors.ok());
    for (CodecVector& v : *vectors) {
      CAPTURE(entry.name, v.name, v.options);
      const auto made = codec_of(entry, v);
      REQUIRE(made.ok());
      const Codec* codec = codec_by_wire_id((*made)->properties().wire_id);
      const Sample sample = sample_of(**made, v);
      const auto judge = [&](ByteSpan bytes) {
        std::vector<float> acc(v.x.size());
        ByteReader in(bytes);
        const Status status = codec->decode_add(in, sample.context, 1, acc);
        return std::pair(status.ok(), first_not_finite(acc) == acc.size());
      };
      // All places of short encodings, a sample of long ones.
      const std::size_t stride = v.bytes.size() < 2000 ? 1 : 37;
      bool all_refused = true;
      for (std::size_t size = 0; size < v.bytes.size(); size += stride) {
        all_refused = all_refused && !judge(ByteSpan(v.bytes).first(size)).first;
      }
      CHECK(all_refused);
      bool all_finite = true;
      for (std::size_t bit = 0; bit < 8 * v.bytes.size(); bit += stride) {
        const auto flip = static_cast<std::byte>(1U << (bit % 8));
        v.bytes[bit / 8] ^= flip;
        const auto [accepted, finite] = judge(v.bytes);
        all_finite = all_finite && (!accepted || finite);
        v.bytes[bit / 8] ^= flip;
      }
      CHECK(all_finite);
    }
  }
}

// Run by the target golden_write, for codecs that have no file yet.
TEST_CASE("golden: write the missing files", "[.][golden_write]") {
  for (const CodecEntry& entry : registry()) {
    const std::string path = golden_path(entry);
    if (!std::filesystem::exists(path)) {
      std::ofstream(path) << golden_text(entry);
    }
    CHECK(read_golden(entry).ok());
  }
}

// Run by the target golden_write: seeds for fuzz/codec_fuzz.cpp, whose input this spells out.
TEST_CASE("golden: write the codecs' fuzz corpus", "[.][golden_write]") {
  const std::filesystem::path folder = shoal::tests::source_path("tests/fuzz/corpus/codec");
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, std::uint8_t wire_id, std::size_t elements,
                         ByteSpan bytes) {
    ByteWriter out;
    out.put(wire_id);
    out.put(std::uint8_t{0});  // every option at its default
    out.put(static_cast<std::uint16_t>(elements - 1));
    out.put_bytes(bytes);
    std::ofstream file(folder / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(out.span().data()),
               static_cast<std::streamsize>(out.size()));
    CHECK(file.good());
  };
  for (const CodecEntry& entry : registry()) {
    const auto vectors = read_golden(entry);
    REQUIRE(vectors.ok());
    const auto wire_id = entry.make(Options::defaults(entry.options))->properties().wire_id;
    int number = 0;
    for (const CodecVector& v : *vectors) {
      if (v.bytes.size() < 200 && number++ % 5 == 0) {
        write(entry.name + "-" + std::to_string(number), wire_id, v.x.size(), v.bytes);
      }
      if (v.tensor == std::vector<std::int64_t>{64, 64, 0} && v.options.empty()) {
        auto bytes = v.bytes;  // the fuzzer's first map: this matrix and seven floats
        bytes.resize(bytes.size() + 7 * sizeof(float));
        write(entry.name + "-matrix", wire_id, 2, bytes);
      }
    }
    write(entry.name + "-empty", wire_id, 1024, {});
  }
}
