#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "node/data/utf8.h"
#include "tests/node/data/data_folder.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Split;

Settings text_settings(const std::string& path, std::int64_t context, const std::string& tokens,
                       double fraction = 0.1) {
  return {{"path", path}, {"context", context}, {"tokens", tokens}, {"test_fraction", fraction}};
}

TEST_CASE("UTF-8 is decoded strictly") {
  CHECK(*node::decode_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x9F") ==
        std::vector<std::uint32_t>{0x61, 0xE9, 0x20AC, 0x1F41F});
  for (const char* bad : {"ab\x80", "ab\xC3", "ab\xC0\xAF", "ab\xED\xA0\x80", "ab\xF4\x90\x80\x80",
                          "ab\xFF", "ab\xE2\x82", "ab\xE2\x28\xA1"}) {
    const auto refused = node::decode_utf8(bad);
    REQUIRE_FALSE(refused.ok());
    CHECK_THAT(refused.error().message, Contains("at byte 2"));
  }
}

TEST_CASE("text: windows of one file cover it, each token predicted") {
  const DataFolder folder;
  folder.write("t", std::string("abcdefghij") + "klmnopqr");  // 18 - 8 = 10 to train on
  const auto data = must_open("text", text_settings(folder.file("t"), 4, "bytes", 8.0 / 18));
  CHECK(data->classes() == 256);
  CHECK(data->input() == ops::Port{ops::Shape{4}, true});
  CHECK(data->target() == data->input());
  REQUIRE(data->size(Split::kTrain) == 3);  // abcd efgh fghi, the last moved back
  REQUIRE(data->size(Split::kTest) == 2);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  auto batch = fill(*data, Split::kTrain, {2, 0, 1});
  REQUIRE(batch.status.ok());
  CHECK(batch.tokens() ==
        std::vector<std::int32_t>{'f', 'g', 'h', 'i', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'});
  CHECK(batch.labels() ==
        std::vector<std::int32_t>{'g', 'h', 'i', 'j', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'});
  CHECK(fill(*data, Split::kTest, {1}).labels() == std::vector<std::int32_t>{'o', 'p', 'q', 'r'});
  CHECK(data->holders().empty());
}

TEST_CASE("text: the vocabulary is the training text's, ascending, and one more") {
  const DataFolder folder;
  folder.write("t",
               "b\xC3\xA9"
               "ab\xC3\xA9z\xE2\x82\xAC"
               "a");  // 8 characters; 3 to test on
  const auto data = must_open("text", text_settings(folder.file("t"), 1, "characters", 3.0 / 8));
  CHECK(data->classes() == 4);  // a b e-acute, and the unknown
  REQUIRE(data->hold_all(Split::kTrain).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  auto train = fill(*data, Split::kTrain, {0, 1, 2, 3});
  CHECK(train.tokens() == std::vector<std::int32_t>{1, 2, 0, 1});
  CHECK(train.labels() == std::vector<std::int32_t>{2, 0, 1, 2});
  CHECK(fill(*data, Split::kTest, {0, 1}).tokens() == std::vector<std::int32_t>{3, 3});
  CHECK(fill(*data, Split::kTest, {0, 1}).labels() == std::vector<std::int32_t>{3, 0});
}

TEST_CASE("text: a folder is split by document, the same whatever order it is listed in") {
  const DataFolder folder;
  for (int i = 0; i < 40; ++i) {  // document i is all of character i
    folder.write((i % 2 == 0 ? "even/" : "") + std::to_string(i) + ".txt",
                 std::string(9, static_cast<char>('0' + i)));
  }
  folder.write("short.txt", "abc");  // no longer than the context: no window
  folder.write("other.bin", std::string("\xFF\xFF\xFF\xFF\xFF\xFF"));
  Settings settings = text_settings(folder.path(), 4, "characters", 0.25);
  settings.emplace_back("suffix", std::string(".txt"));
  const auto data = must_open("text", settings, 3);
  const std::uint32_t trains = data->size(Split::kTrain);
  const std::uint32_t tests = data->size(Split::kTest);
  CHECK(trains + tests == 80);  // two windows each
  CHECK(tests % 2 == 0);
  CHECK((tests >= 6 && tests <= 40));  // four deviations of binomial(40, 1/4), twice
  const auto holders = data->holders();
  REQUIRE(holders.size() == trains);
  CHECK(*std::max_element(holders.begin(), holders.end()) + 1 == trains / 2);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  std::set<std::int32_t> seen;
  for (std::uint32_t i = 0; i < trains; ++i) {
    auto window = fill(*data, Split::kTrain, {i});
    const auto tokens = window.tokens();
    CHECK(std::set<std::int32_t>(tokens.begin(), tokens.end()).size() == 1);
    CHECK(tokens == window.labels());
    seen.insert(tokens[0]);
  }
  CHECK(seen.size() == trains / 2);
  CHECK(must_open("text", settings, 3)->size(Split::kTrain) == trains);
  std::set<std::uint32_t> sizes;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    sizes.insert(must_open("text", settings, seed)->size(Split::kTrain));
  }
  CHECK(sizes.size() > 1);
}

TEST_CASE("text: a private part is all that is held") {
  const DataFolder folder;
  folder.write("a", std::string(100, 'x') + std::string(100, 'y'));
  const auto data = must_open("text", text_settings(folder.path(), 10, "bytes", 0.5));
  CHECK(data->held_bytes(7) == 7 * 22);
  const std::vector<std::uint32_t> own = {5, 1};
  REQUIRE(data->hold(Split::kTrain, own).ok());
  CHECK(fill(*data, Split::kTrain, own).status.ok());
  const auto refused = fill(*data, Split::kTrain, {5, 2}).status;
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("sample 2") && Contains("not held"));
}

TEST_CASE("text: what can't be read is named, with what to do") {
  const DataFolder folder;
  const auto fault = [&folder](const std::string& name, const std::string& tokens = "characters",
                               double fraction = 0.1) {
    return data_fault("text", text_settings(folder.file(name), 4, tokens, fraction));
  };
  CHECK_THAT(fault("nowhere"),
             Contains(folder.file("nowhere") + " is missing") && Contains("data.path"));
  folder.write("latin", "caf\xE9 au lait, caf\xE9 noir, caf\xE9 creme");
  CHECK_THAT(fault("latin"),
             Contains("is no UTF-8 text at byte 3") && Contains("data.tokens = \"bytes\""));
  CHECK(open_data("text", text_settings(folder.file("latin"), 4, "bytes", 0.5)).ok());
  folder.write("short", "abcdefghij");
  CHECK_THAT(fault("short"), Contains("no document longer than data.context (4) to test on"));
  CHECK_THAT(fault("short", "bytes", 0.9), Contains("to train on, of 1"));
  std::filesystem::create_directory(folder.file("empty"));
  CHECK_THAT(fault("empty"), Contains("holds no file"));
  Settings none = text_settings(folder.path(), 4, "bytes");
  none.emplace_back("suffix", std::string(".pod"));
  CHECK_THAT(data_fault("text", none), Contains("holds no file named *.pod"));
  folder.write("bad.gz", "no gzip");
  CHECK_THAT(fault("bad.gz"), Contains("is no gzip file"));
  folder.write("shrinks", std::string(100, 'a'));
  const auto data = must_open("text", text_settings(folder.file("shrinks"), 4, "bytes", 0.5));
  folder.write("shrinks", std::string(50, 'a'));
  const Status held = data->hold_all(Split::kTest);
  REQUIRE_FALSE(held.ok());
  CHECK_THAT(held.error().message, Contains("changed while it was being read"));
}

}  // namespace
}  // namespace shoal::tests
