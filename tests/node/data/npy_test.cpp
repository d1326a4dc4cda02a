#include "node/data/npy.h"

#include <cstring>
#include <limits>

#include "tests/node/data/data_folder.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Split;

/// A file as numpy.save writes it.
template <typename T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& numbers,
                const std::string& fortran = "False", char major = 1) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 12 + 64) / 64 * 64 - 11, ' ');
  header.back() = '\n';
  std::string out = "\x93NUMPY";
  out += major;
  out += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    out += static_cast<char>(header.size() >> static_cast<unsigned>(8 * i));
  }
  out += header;
  out.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  return out;
}

class Arrays : public DataFolder {
 public:
  Arrays() {
    write("x.npy", npy<float>("<f4", "(4, 2)", {0, 1, 2, 3, 4, 5, 6, 7}));
    write("y.npy", npy<std::int64_t>("<i8", "(4,)", {2, 0, 1, 2}));
  }
  [[nodiscard]] Settings settings(const Settings& more = {}) const {
    Settings all = {{"x", file("x.npy")}, {"y", file("y.npy")}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Settings with_tests() const {
    return settings({{"test_x", file("tx.npy")}, {"test_y", file("ty.npy")}});
  }
  [[nodiscard]] std::string fault() const {
    const std::string message = data_fault("npy", settings());
    CHECK_THAT(message, Contains("data.x"));
    return message;
  }
};

TEST_CASE("npy: samples and classes, split by the seed") {
  const Arrays arrays;
  const auto data = must_open("npy", arrays.settings({{"test_fraction", 0.25}}));
  CHECK(data->size(Split::kTrain) == 3);
  CHECK(data->size(Split::kTest) == 1);
  CHECK(data->input() == ops::Port{ops::Shape{2}, false});
  CHECK(data->classes() == 3);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  const std::vector<std::int32_t> labels = {2, 0, 1, 2};
  std::vector<bool> seen(4, false);
  for (const Split split : {Split::kTrain, Split::kTest}) {
    for (std::uint32_t i = 0; i < data->size(split); ++i) {
      auto one = fill(*data, split, {i});
      const auto x = one.reals();
      const auto row = static_cast<std::size_t>(x[0]) / 2;
      REQUIRE(x[1] == x[0] + 1);
      CHECK_FALSE(seen.at(row));
      seen[row] = true;
      CHECK(one.labels()[0] == labels[row]);
    }
  }
}

TEST_CASE("npy: every type, both formats, images, real targets, a second file, a private part") {
  const Arrays arrays;
  arrays.write("x.npy", npy<unsigned char>("|u1", "(2, 1, 2, 2)", {0, 51, 102, 255, 5, 10, 20, 40},
                                           "False", 2));
  arrays.write("y.npy", npy<double>("<f8", "(2, 3)", {0.5, 1, 2, -1, -2, -3}));
  arrays.write("tx.npy", npy<std::int32_t>("<i4", "(1, 1, 2, 2)", {-1, 2, 3, 4}));
  arrays.write("ty.npy", npy<float>("<f4", "(1, 3)", {7, 8, 9}));
  Settings settings = arrays.with_tests();
  settings.emplace_back("scale", 0.5);
  const auto data = must_open("npy", settings);
  CHECK(data->input().shape == ops::Shape{1, 2, 2});
  CHECK(data->target() == ops::Port{ops::Shape{3}, false});
  CHECK(data->classes() == 3);
  CHECK(data->held_bytes(1) == 16);
  const std::vector<std::uint32_t> own = {1};
  REQUIRE(data->hold(Split::kTrain, own).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  auto batch = fill(*data, Split::kTrain, own);
  REQUIRE(batch.status.ok());
  CHECK(batch.reals() == std::vector<float>{2.5, 5, 10, 20});
  CHECK(batch.targets() == std::vector<float>{-1, -2, -3});
  CHECK_FALSE(fill(*data, Split::kTrain, {0}).status.ok());
  auto test = fill(*data, Split::kTest, {0});
  CHECK(test.reals() == std::vector<float>{-0.5, 1, 1.5, 2});
  CHECK(test.targets() == std::vector<float>{7, 8, 9});
}

TEST_CASE("npy: a header that is not understood is refused in words") {
  const Arrays arrays;
  const std::vector<float> eight(8, 1);
  const auto with = [&arrays](const std::string& bytes) {
    arrays.write("x.npy", bytes);
    const std::string message = arrays.fault();
    CHECK_THAT(message, Contains(arrays.file("x.npy")));
    return message;
  };
  CHECK_THAT(with(""), Contains("is no NPY file"));
  CHECK_THAT(with("PK\x03\x04 an npz"), Contains("is no NPY file"));
  CHECK_THAT(with(npy(">f4", "(4, 2)", eight)), Contains("\">f4\"") && Contains("astype(\"<f4\")"));
  CHECK_THAT(with(npy("<f2", "(4, 2)", eight)), Contains("type \"<f2\""));
  CHECK_THAT(with(npy("<f4", "(4, 2)", eight, "True")), Contains("Fortran order"));
  CHECK_THAT(with(npy("<f4", "(4, 2)", eight, "Maybe")), Contains("no dictionary"));
  CHECK_THAT(with(npy("<f4", "(4, -2)", eight)), Contains("no dictionary"));
  CHECK_THAT(with(npy("<f4', 'more': '", "(4, 2)", eight)), Contains("no dictionary"));
  CHECK_THAT(with(npy("<f4", "(4, 2)", eight, "False", 3)), Contains("NPY format 3.0"));
  CHECK_THAT(with(npy("<f4", "()", eight)), Contains("has 0 dimensions"));
  CHECK_THAT(with(npy("<f4", "(1, 1, 1, 1, 1, 1, 1)", eight)), Contains("has 7 dimensions"));
  CHECK_THAT(with(npy("<f4", "(4,)", eight)), Contains("one dimension") && Contains("reshape"));
  CHECK_THAT(with(npy("<f4", "(0, 2)", eight)), Contains("impossible shape"));
  CHECK_THAT(with(npy("<f4", "(4, 4611686018427387904, 16)", eight)), Contains("impossible shape"));
  std::string longer = npy("<f4", "(4, 2)", eight, "False", 2);
  longer[11] = 1;
  CHECK_THAT(with(longer), Contains("header of 16777"));
}

TEST_CASE("npy: contents that do not fit are refused in words") {
  const Arrays arrays;
  const std::string x = arrays.read("x.npy");
  arrays.write("x.npy", x.substr(0, x.size() - 1));
  CHECK_THAT(arrays.fault(), Contains("x.npy ends early"));
  arrays.write("x.npy", x + "?");
  CHECK_THAT(arrays.fault(), Contains("x.npy holds more than its header says"));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  arrays.write("x.npy", npy<float>("<f4", "(4, 2)", {0, 1, 2, kNan, 4, kNan, kNan, 7}));
  CHECK_THAT(arrays.fault(), Contains("item ") && Contains("not finite"));
  arrays.write("x.npy", npy<float>("<f4", "(4, 2)", {0, 1, 2, 3, 4, 5, 6, 7}));
  const auto with_y = [&arrays](const std::string& bytes) {
    arrays.write("y.npy", bytes);
    return arrays.fault();
  };
  CHECK_THAT(with_y(npy<std::int32_t>("<i4", "(3,)", {0, 1, 2})),
             Contains("holds 3 targets, but there are 4 samples"));
  CHECK_THAT(with_y(npy<std::int32_t>("<i4", "(4,)", {0, 1, -1, 2})),
             Contains("y.npy item 2 is no class"));
  CHECK_THAT(with_y(npy<std::int32_t>("<i4", "(4, 2)", std::vector<std::int32_t>(8, 0))),
             Contains("classes are one number each"));
  CHECK_THAT(with_y(npy<double>("<f8", "(4,)", {0, 1, 1e300, 2})),
             Contains("item 2 is not finite as a float"));
  arrays.write("y.npy", npy<std::int64_t>("<i8", "(4,)", {2, 0, 1, 2}));
  arrays.write("tx.npy", npy<float>("<f4", "(1, 3)", {0, 1, 2}));
  arrays.write("ty.npy", npy<std::int64_t>("<i8", "(1,)", {2}));
  CHECK_THAT(data_fault("npy", arrays.with_tests()), Contains("tx.npy holds samples [3], but"));
  arrays.write("tx.npy", npy<float>("<f4", "(1, 2)", {0, 1}));
  arrays.write("ty.npy", npy<float>("<f4", "(1,)", {2}));
  CHECK_THAT(data_fault("npy", arrays.with_tests()), Contains("targets of another kind"));
}

}  // namespace
}  // namespace shoal::tests
