#include "node/bench/codec_trial.h"

#include <fstream>

#include "node/bench/codec_quality.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

/// A file as numpy.save writes it, of `dims` and numbers of type `descr`.
std::string npy_file(const shoal::tests::TempFolder& folder, const std::string& descr,
                     const std::string& dims, const std::vector<float>& values) {
  std::string head =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + dims + ", }\n";
  const std::string path = (folder.path() / "x.npy").string();
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY\x01" << '\0' << static_cast<char>(head.size()) << '\0' << head;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return path;
}

std::string refusal(const std::string& path) {
  const auto input = read_input(path);
  REQUIRE_FALSE(input.ok());
  CHECK(input.error().code == Code::kData);
  CHECK_THAT(input.error().message, Contains(path));
  return input.error().message;
}

}  // namespace

TEST_CASE("codec trial: an option on the command line counts, a wrong one is refused in words") {
  const CodecInput input = normal_input(4096);
  const auto bytes = [&](const std::string& name) {
    const auto trial = make_trial(name, input);
    REQUIRE(trial.ok());
    ByteWriter out;
    REQUIRE(trial->encode(trial->x, out).ok());
    return out.size();
  };
  CHECK(bytes("topk:density=0.1") > 4 * bytes("topk"));
  CHECK(bytes("topk:density=0.1:values=fp32") > 2 * bytes("topk:density=0.1"));
  for (const auto& [name, word] :
       std::vector<std::pair<std::string, std::string>>{{"int9", "int8"},
                                                        {"int8:size=3", "size"},
                                                        {"int8:block", "block"},
                                                        {"int8:block=many", "many"},
                                                        {"topk:values=int9", "int8"}}) {
    const auto trial = make_trial(name, input);
    REQUIRE_FALSE(trial.ok());
    CHECK(trial.error().code == Code::kConfig);
    CHECK_THAT(trial.error().message, Contains(word));
  }
}

TEST_CASE("codec trial: an NPY file of float32 is read in its shape, others are refused in words") {
  const shoal::tests::TempFolder folder;
  const auto values = normal_input(64 * 128).values;
  const auto input = read_input(npy_file(folder, "<f4", "(64, 32, 4)", values));
  REQUIRE(input.ok());
  CHECK(input->shape == std::vector<std::int64_t>{64, 32, 4});
  CHECK(input->values == values);
  CHECK_THAT(refusal(npy_file(folder, "<f8", "(32, 128)", values)), Contains("float32"));
  CHECK_THAT(refusal(npy_file(folder, "<f4", "(7,)", values)), Contains("fp32"));
  refusal(npy_file(folder, "<f4", "(65, 128)", values));
  refusal(npy_file(folder, "<f4", "(63, 128)", values));
  refusal((folder.path() / "none.npy").string());
}

TEST_CASE("codec trial: figures of what a codec makes of a tensor") {
  for (const auto& name : codec_variants()) {
    INFO(name);
    auto trial = make_trial(name, normal_input(20'000));
    REQUIRE(trial.ok());
    const compress::Properties p = trial->codec->properties();
    const auto quality = judge_codec(std::move(*trial), 4);
    REQUIRE(quality.ok());
    CHECK(quality->finite);
    CHECK(quality->bytes > 0);
    CHECK(quality->bits_a_value == Approx(8.0 * static_cast<double>(quality->bytes) / 20'000));
    CHECK((quality->relative_error == 0) == p.lossless);
    // What is right on average only, or clipped, may err by more than the values.
    CHECK((p.contraction == 0 || quality->relative_error <= 1 - p.contraction));
    REQUIRE(quality->telescoping_error.has_value() == (p.momentum == 0 && p.carry_decay == 1));
    // Eight roundings, each of at most 2^-24 of values that are mostly a few times x; a hundredfold
    // of it where a scale is far above them.
    CHECK(quality->telescoping_error.value_or(0) <= 1e-5);
  }
  const auto kept = [](const std::string& name) {
    auto trial = make_trial(name, normal_input(20'000));
    return trial.ok() ? judge_codec(std::move(*trial), 1)->bits_a_kept_value : std::nullopt;
  };
  CHECK(kept("topk").value_or(99) <= 17);
  CHECK_FALSE(kept("int8").has_value());
}

TEST_CASE("codec trial: NaN is refused with its place") {
  CodecInput input = normal_input(8192);
  input.values[5] = std::numeric_limits<float>::quiet_NaN();
  auto trial = make_trial("int8", input);
  REQUIRE(trial.ok());
  const auto quality = judge_codec(std::move(*trial), 1);
  REQUIRE_FALSE(quality.ok());
  CHECK_THAT(quality.error().message, Contains("x[5]"));
}

}  // namespace shoal::node::tests
