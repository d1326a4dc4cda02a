#include <fstream>

#include "tests/integration/program.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

/// The rows that `shoal bench words... --json` prints, behind its text.
nlohmann::json rows_of(const Workshop& shop, std::vector<std::string> words) {
  words.insert(words.begin(), "bench");
  words.emplace_back("--json");
  std::string said;
  for (const std::string& word : words) {
    said += word;  // a file of its own for each
  }
  REQUIRE(shop.run(words, said) == 0);
  const std::string text = shop.text(said);
  INFO(text);
  const std::size_t at = text.find("\n[");
  REQUIRE(at != std::string::npos);
  return nlohmann::json::parse(text.substr(at + 1));
}

}  // namespace

TEST_CASE("bench: every part prints its rows", "[zmq]") {
  const Workshop shop;
  const auto codec = rows_of(shop, {"codec", "int8", "--elements", "10000"});
  REQUIRE(codec.size() == 1);
  CHECK(codec[0]["encode_gbps"] > 0);

  const auto transport = rows_of(shop, {"transport", "--megabytes", "8", "--turns", "1"});
  REQUIRE(transport.size() == 3);
  for (const auto& row : transport) {
    CHECK(row["gbps"] > 0);
    CHECK(row["of_raw_tcp"] > 0);
  }

  const auto ops = rows_of(shop, {"ops", "run.toml", "--seconds", "0.01"});
  REQUIRE(ops.size() == 1);
  CHECK(ops[0]["step_ms"] > 0);
  CHECK(ops[0]["gemms"].size() == 2);
}

TEST_CASE("bench codec: a gradient from a file is judged too") {
  const Workshop shop;
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 100), }\n";
  std::ofstream file(shop.path() / "x.npy", std::ios::binary);
  file << "\x93NUMPY\x01" << '\0' << static_cast<char>(head.size()) << '\0' << head;
  for (int i = 0; i < 6400; ++i) {
    const auto value = static_cast<float>((i * 7919) % 6400) - 3200;
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  file.close();
  const auto rows = rows_of(shop, {"codec", "int8", "topk:density=0.1", "--input", "x.npy"});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["elements"] == 6400);
  CHECK(rows[0]["relative_error"] < 1e-4);
  CHECK(rows[0]["bits_a_kept_value"].is_null());
  CHECK(rows[1]["finite"] == true);
  CHECK(rows[1]["bits_a_kept_value"] < 14);
  CHECK(rows[1]["telescoping_error"] < 1e-6);
}

TEST_CASE("bench mean: a group of processes, with and without encryption", "[zmq]") {
  const Workshop shop;
  for (const std::string peers : {"1", "3"}) {
    std::vector<std::string> words = {"mean",    "--peers", peers,      "--elements", "10000",
                                      "--codec", "int8",    "--rounds", "3"};
    const auto rows = rows_of(shop, words);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["ms"] > 0);
    CHECK(rows[0]["encrypted"] == true);
    words.emplace_back("--insecure-loopback");
    CHECK(rows_of(shop, words)[0]["encrypted"] == false);
  }
}

TEST_CASE("bench: what is wrong is said", "[zmq]") {
  const Workshop shop;
  CHECK(shop.run({"bench"}, "none") == 2);
  CHECK(shop.run({"bench", "codec", "--input", "missing.npy"}, "input") == 3);
  CHECK_THAT(shop.text("input"), Contains("missing.npy"));
  CHECK(shop.run({"bench", "codec", "--elements", "100"}, "small") == 2);
  CHECK_THAT(shop.text("small"), Contains("4096"));
  CHECK(shop.run({"bench", "mean", "--codec", "int9", "--peers", "2"}, "codec") == 2);
  CHECK_THAT(shop.text("codec"), Contains("int8"));
  CHECK(shop.run({"bench", "ops", "missing.toml"}, "missing") == 2);
  CHECK_THAT(shop.text("missing"), Contains("missing.toml"));
}

}  // namespace shoal::node::tests
