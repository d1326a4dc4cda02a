#include "node/files.h"
#include "tests/integration/program.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

/// A data set of which one file is broken.
struct Broken {
  std::string what;
  std::vector<std::string> settings;
  std::vector<std::pair<std::string, std::string>> files;  ///< name, bytes
  std::string named;                                       ///< file that must be named
  std::string remedy;                                      ///< key that must be named
};

std::string idx_header(int dimensions, int count) {
  std::string header("\0\0\x08", 3);
  header += static_cast<char>(dimensions);
  for (int i = 0; i < dimensions; ++i) {
    header += std::string(3, '\0') + static_cast<char>(i == 0 ? count : 2);
  }
  return header;
}

std::vector<Broken> table() {
  const std::string images = idx_header(3, 2) + std::string(8, '\x20');
  const std::string labels = idx_header(1, 2) + std::string("\0\x01", 2);
  const std::vector<std::string> idx = {"data.name=idx", "data.train_images=a.idx",
                                        "data.train_labels=b.idx", "data.test_images=c.idx",
                                        "data.test_labels=d.idx"};
  return {
      {"an IDX file that ends in its header",
       idx,
       {{"a.idx", images.substr(0, 9)}, {"b.idx", labels}, {"c.idx", images}, {"d.idx", labels}},
       "a.idx",
       "data.train_images"},
      {"an IDX file of something else",
       idx,
       {{"a.idx", images}, {"b.idx", "label\n1\n"}, {"c.idx", images}, {"d.idx", labels}},
       "b.idx",
       "data.train_labels"},
      {"a batch of CIFAR that is cut off",
       {"data.name=cifar10", "data.path=."},
       {{"data_batch_1.bin", std::string(3000, '\x01')}},
       "data_batch_1.bin",
       "data.path"},
      {"a CSV cell that is no number",
       {"data.name=csv", "data.train_file=t.csv", "data.label=y"},
       {{"t.csv", "x,y\n1,a\n2,b\n3,a\nfour,b\n"}},
       "t.csv",
       "data."},
      {"a CSV file without the label",
       {"data.name=csv", "data.train_file=t.csv", "data.label=y"},
       {{"t.csv", "x,z\n1,2\n3,4\n"}},
       "t.csv",
       "data.label"},
      {"a npy file that is none",
       {"data.name=npy", "data.x=x.npy", "data.y=y.npy"},
       {{"x.npy", "not numpy's"}, {"y.npy", "nor this"}},
       "x.npy",
       "data.x"},
      {"a text that is no UTF-8",
       {"data.name=text", "data.path=corpus.txt"},
       {{"corpus.txt", "good text \xff\xfe then not" + std::string(500, 'a')}},
       "corpus.txt",
       "data.tokens"},
      {"a text that is not there",
       {"data.name=text", "data.path=nowhere.txt"},
       {},
       "nowhere.txt",
       "data.path"}};
}

}  // namespace

TEST_CASE("a broken data file ends the program with code 3, naming the file and what helps") {
  for (const Broken& broken : table()) {
    const Workshop here;
    for (const auto& [name, bytes] : broken.files) {
      REQUIRE(write_file(here.path() / name, bytes).ok());
    }
    // The name of the model fits any data; what it is made of does not matter here.
    std::vector<std::string> words = {"config", "check", "--set", "model.name=logistic"};
    for (const auto& setting : broken.settings) {
      words.emplace_back("--set");
      words.push_back(setting);
    }
    CHECK(here.run(words, "said") == 3);
    const std::string said = here.text("said");
    INFO(broken.what << ": " << said);
    CHECK(said.find(broken.named) != std::string::npos);
    CHECK(said.find(broken.remedy) != std::string::npos);
    CHECK(said.find("expected") != std::string::npos);
  }
}

}  // namespace shoal::node::tests
