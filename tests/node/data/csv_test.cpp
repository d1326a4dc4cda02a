#include "node/data/csv.h"

#include <cmath>
#include <filesystem>
#include <set>

#include "tests/node/data/data_folder.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Split;
using Rows = std::vector<std::vector<std::string>>;

Result<Rows> rows_of(const std::string& text, char separator = ',') {
  const auto source = node::memory_source(std::as_bytes(std::span(text)));
  node::CsvReader reader(*source, separator);
  Rows rows;
  std::vector<std::string> fields;
  for (;;) {
    SHOAL_ASSIGN(const bool more, reader.next(fields));
    if (!more) {
      return rows;
    }
    rows.push_back(fields);
  }
}

TEST_CASE("csv: fields, quotes, line ends") {
  CHECK(*rows_of("a,b\n1,\n") == Rows{{"a", "b"}, {"1", ""}});
  CHECK(*rows_of("a,b\r\n\r\n\n1,2") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(*rows_of("\xEF\xBB\xBF"
                 "a\r\nb\r") == Rows{{"a"}, {"b"}});
  CHECK(*rows_of("\"a,\"\"b\"\"\r\nc\",d\n\"\"\n") == Rows{{"a,\"b\"\r\nc", "d"}, {""}});
  CHECK(*rows_of("a b\t\"c\td\"\r\n", '\t') == Rows{{"a b", "c\td"}});
  CHECK(rows_of("")->empty());
  CHECK(*rows_of(",") == Rows{{"", ""}});
  const auto fault = [](const std::string& text) { return rows_of(text).error().message; };
  CHECK_THAT(fault("a\n\"b\nc"), Contains("line 2") && Contains("not closed"));
  CHECK_THAT(fault("a\n\n\nb\"c\n"), Contains("line 4") && Contains("inside a field"));
  CHECK_THAT(fault("\"a\nb\"\n\"c\"d"), Contains("line 3") && Contains("follows a closing quote"));
  CHECK_THAT(fault("\"a\"\rb"), Contains("follows a closing quote"));
  CHECK_THAT(fault(std::string("a\0b", 3)), Contains("NUL byte"));
}

TEST_CASE("csv: what is a number, what is missing") {
  CHECK(node::parse_real(" -1.5e3\t") == -1500.0);
  CHECK(node::parse_real("+2") == 2.0);
  for (const char* text : {"", " ", "1,5", "1 2", "+-1", "inf", "nan", "1e999", "0x10", "--1"}) {
    INFO(text);
    CHECK_FALSE(node::parse_real(text).has_value());
  }
  for (const char* text : {"", "  ", "NA", "n/a", "NaN", "null", "None", "?"}) {
    CHECK(node::is_missing(text));
  }
  CHECK_FALSE(node::is_missing("0"));
}

class Table : public DataFolder {
 public:
  explicit Table(const std::string& text, const std::string& name = "t.csv") : name_(name) {
    write(name, text);
  }
  [[nodiscard]] Settings settings(const Settings& more = {}) const {
    Settings all = {{"train_file", file(name_)}, {"label", std::string("y")}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::string fault(const Settings& more = {}) const {
    const std::string message = data_fault("csv", settings(more));
    CHECK_THAT(message, Contains(file(name_)) && Contains("data.label"));
    return message;
  }

 private:
  std::string name_;
};

TEST_CASE("csv: training rows are normalised to mean 0 and deviation 1, test rows alike") {
  std::string text = "a,y,const,b\n";
  for (int i = 0; i < 50; ++i) {
    text += std::to_string(i) + ",c" + std::to_string(i % 3) + ",5," + std::to_string(i * i) + "\n";
  }
  const Table table(text);
  const auto data = must_open("csv", table.settings(), 4);
  CHECK(data->size(Split::kTrain) == 40);
  CHECK(data->size(Split::kTest) == 10);
  CHECK(data->input() == ops::Port{ops::Shape{3}, false});
  CHECK(data->classes() == 3);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  std::vector<std::uint32_t> all(40);
  for (std::uint32_t i = 0; i < 40; ++i) {
    all[i] = i;
  }
  auto batch = fill(*data, Split::kTrain, all);
  REQUIRE(batch.status.ok());
  const auto x = batch.reals();
  std::set<float> places;
  for (const std::size_t column : {std::size_t{0}, std::size_t{2}}) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const auto v = static_cast<double>(x[3 * i + column]);
      sum += v;
      squares += v * v;
      CHECK(x[3 * i + 1] == 0.0F);  // all equal
    }
    // Each value is rounded to float once, below 4 in size: 40 times 2^-22.
    CHECK(std::abs(sum) < 40 * 0x1p-22);
    CHECK(std::abs(squares / 40 - 1) < 8 * 0x1p-22);
  }
  // Row a = i has class i % 3: neighbours in a of one split tell the step of a.
  auto tests = fill(*data, Split::kTest, {0, 9});
  CHECK(tests.labels().size() == 2);
  // Another seed draws other rows.
  const auto other = must_open("csv", table.settings(), 5);
  const auto a = data->labels(Split::kTest);
  const auto b = other->labels(Split::kTest);
  CHECK_FALSE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

TEST_CASE("csv: a private part, a second file, numbers as classes, dropped columns") {
  Table table("id;y;v\nx;10;1\nx;9;3\nx;10;5\n");
  table.write("test.csv", "id;y;v\nz;9;7\n");
  const auto data = must_open("csv", table.settings({{"test_file", table.file("test.csv")},
                                                     {"separator", std::string(";")},
                                                     {"drop", std::vector<std::string>{"id"}}}));
  CHECK(data->size(Split::kTrain) == 3);
  CHECK(data->size(Split::kTest) == 1);
  const auto labels = data->labels(Split::kTrain);
  CHECK(std::vector<std::int32_t>(labels.begin(), labels.end()) ==
        std::vector<std::int32_t>{1, 0, 1});  // 9 before 10
  const std::vector<std::uint32_t> own = {2};
  REQUIRE(data->hold(Split::kTrain, own).ok());
  REQUIRE(data->hold_all(Split::kTest).ok());
  // Mean 3, deviation sqrt(8/3).
  CHECK(fill(*data, Split::kTrain, own).reals()[0] == Approx(2 / std::sqrt(8.0 / 3)));
  CHECK(fill(*data, Split::kTest, {0}).reals()[0] == Approx(4 / std::sqrt(8.0 / 3)));
  CHECK_FALSE(fill(*data, Split::kTrain, {0}).status.ok());
  CHECK(data->held_bytes(1) == 4);
}

TEST_CASE("csv: real targets, and the mean in the place of what is missing") {
  Table table("v\ty\n1\t0.5\nNA\t-2\n3\t7\n\t1\n", "t.tsv");
  table.write("test.tsv", "v\ty\n2\t4\n");
  const Settings settings = table.settings({{"test_file", table.file("test.tsv")},
                                            {"target", std::string("real")},
                                            {"missing", std::string("mean")}});
  const auto data = must_open("csv", settings);
  CHECK(data->target() == ops::Port{ops::Shape{1}, false});
  REQUIRE(data->hold_all(Split::kTrain).ok());
  auto batch = fill(*data, Split::kTrain, {3, 0, 1, 2});
  REQUIRE(batch.status.ok());
  CHECK(batch.targets() == std::vector<float>{1, 0.5, -2, 7});
  CHECK(batch.reals() == std::vector<float>{0, -1, 0, 1});
  const auto refused = table.fault({{"target", std::string("real")}});
  CHECK_THAT(refused,
             Contains("line 3: column \"v\" has no value") && Contains("data.missing = \"mean\""));
}

TEST_CASE("csv: a broken file is named, with line and column") {
  CHECK_THAT(Table("").fault(), Contains("is empty"));
  CHECK_THAT(Table("a,y\n").fault(), Contains("has no rows"));
  CHECK_THAT(Table("a,y\n1,2\n").fault(), Contains("has 1 samples, too few"));
  CHECK_THAT(Table("a,prise\n1,2\n3,4\n").fault({{"label", std::string("price")}}),
             Contains("has no column \"price\"") && Contains("did you mean \"prise\"?"));
  CHECK_THAT(Table("y\n1\n2\n").fault(), Contains("no column beside the label"));
  CHECK_THAT(Table("a,y,a\n1,2,3\n").fault(), Contains("names the column \"a\" twice"));
  CHECK_THAT(Table("a,y\n1,2\n3\n").fault(),
             Contains("line 3 has 1 fields, but the header names 2"));
  CHECK_THAT(Table("a,y\n1,2\n3,4\nfour,5\n").fault(),
             Contains("line 4: column \"a\": \"four\" is no number"));
  CHECK_THAT(Table("a,y\n1,2\n,3\n").fault(), Contains("line 3: column \"a\" has no value"));
  CHECK_THAT(Table("a,y\n1,2\n3,\n").fault(), Contains("line 3: column \"y\" has no value"));
  CHECK_THAT(Table("a,y\n1,\"2\n3,4\n").fault(), Contains("line 2: a quote is not closed"));
  CHECK_THAT(Table("a,y\n1,2\n3,two\n").fault({{"target", std::string("real")}}),
             Contains("line 3: column \"y\": \"two\" is no number to predict"));
  CHECK_THAT(Table("a,y\nNA,2\n?,3\n").fault({{"missing", std::string("mean")}}),
             Contains("no value to train on in column \"a\""));
  CHECK_THAT(Table("a,y\n1e308,2\n-1e308,3\n1e308,2\n-1e308,3\n").fault(),
             Contains("too large to average in column \"a\""));
  CHECK_THAT(Table("a,y\n1,2\n").fault({{"drop", std::vector<std::string>{"b"}}}),
             Contains("has no column \"b\", which data.drop names"));
  std::string many = "a,y\n";
  for (int i = 0; i < 1002; ++i) {
    many += "1,v" + std::to_string(i) + "\n";
  }
  CHECK_THAT(Table(many).fault(), Contains("more than 1000 different values"));
  const Table table("a,y\n1,2\n3,4\n");
  std::filesystem::remove(table.file("t.csv"));
  CHECK_THAT(table.fault(), Contains("is missing"));
}

TEST_CASE("csv: two files must be alike") {
  Table table("a,y\n1,2\n3,4\n");
  table.write("far.csv", "a,y\n1,2\n1e300,4\n");
  CHECK_THAT(data_fault("csv", table.settings({{"test_file", table.file("far.csv")}})),
             Contains("far.csv line 3: column \"a\": \"1e300\" is too far"));
  table.write("test.csv", "b,y\n1,2\n");
  CHECK_THAT(data_fault("csv", table.settings({{"test_file", table.file("test.csv")}})),
             Contains(table.file("test.csv")) && Contains("has another header"));
}

}  // namespace
}  // namespace shoal::tests
