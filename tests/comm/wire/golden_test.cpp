#include <cstdlib>
#include <fstream>

#include "comm/wire/message.h"
#include "tests/comm/wire/samples.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace shoal::comm::tests {
namespace {

std::string golden_path(const Message& m) {
  return shoal::tests::source_path("tests/golden/wire/v" + std::to_string(kProtocolVersion) + "-" +
                                   kind_name(m.body) + ".hex");
}

std::string encoded_hex(const Message& m) {
  return to_hex(encode_header(m, m.payload.size(), 0).span());
}

}  // namespace

TEST_CASE("header frames of protocol version 1 are what they always were") {
  for (const Message& m : sample_messages()) {
    INFO(golden_path(m));
    std::ifstream file(golden_path(m));
    std::string hex;
    REQUIRE(std::getline(file, hex));
    CHECK(encoded_hex(m) == hex);
    std::vector<std::byte> bytes(hex.size() / 2);
    REQUIRE(from_hex(hex, bytes));
    const auto frame = decode(bytes, m.payload);
    REQUIRE(frame.ok());
    CHECK(frame->message.header == m.header);
    CHECK(frame->message.body == m.body);
  }
}

// The one way to write the files; a released version's never change.
TEST_CASE("write the golden header frames", "[.golden]") {
  for (const Message& m : sample_messages()) {
    std::ofstream file(golden_path(m));
    file << encoded_hex(m) << "\n";
    CHECK(file.good());
  }
}

// The fuzzer's corpus starts from a good frame of each kind; see tests/fuzz/decode_fuzz.cpp.
TEST_CASE("write the corpus of the decode fuzzer", "[.golden]") {
  for (const Message& m : sample_messages()) {
    ByteWriter out;
    out.put(static_cast<std::uint8_t>(m.payload.size()));
    out.put_bytes(encode_header(m, m.payload.size(), 0).span());
    out.put_bytes(m.payload.span());
    const std::string folder = shoal::tests::source_path("tests/fuzz/corpus/decode/");
    std::ofstream file(folder + kind_name(m.body), std::ios::binary);
    file.write(reinterpret_cast<const char*>(out.span().data()),
               static_cast<std::streamsize>(out.size()));
    CHECK(file.good());
  }
}

}  // namespace shoal::comm::tests
