#include "node/data/cifar.h"

#include <sys/stat.h>

#include <filesystem>

#include "tests/node/data/data_folder.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Split;

/// Records of `label_bytes` bytes of label and pixels that say number, channel and place.
Blob records(std::size_t first, std::size_t count, std::size_t label_bytes) {
  Blob out;
  for (std::size_t i = first; i < first + count; ++i) {
    out.insert(out.end(), label_bytes - 1, 99);  // a coarse label that must not be taken
    out.push_back(static_cast<unsigned char>(i % 10));
    for (std::size_t p = 0; p < node::kCifarPixels; ++p) {
      out.push_back(static_cast<unsigned char>(i + p / 1024 * 50 + p % 1024 % 32));
    }
  }
  return out;
}

class Cifar10 : public DataFolder {
 public:
  Cifar10() {
    for (std::size_t i = 0; i < 5; ++i) {
      write("data_batch_" + std::to_string(i + 1) + ".bin", records(4 * i, 4, 1));
    }
    write("test_batch.bin", records(70, 3, 1));
  }
  [[nodiscard]] Settings settings() const { return {{"path", path()}}; }
};

/// Values are at most 3 in size, and a product and a sum are rounded: 3 * 2^-23.
Approx normal(int value, double mean, double deviation) {
  return Approx((static_cast<double>(value) / 255.0 - mean) / deviation).margin(3 * 0x1p-23);
}

TEST_CASE("cifar10: five files are one split, channels first, each normalised") {
  const Cifar10 folder;
  const auto data = must_open("cifar10", folder.settings());
  CHECK(data->size(Split::kTrain) == 20);
  CHECK(data->size(Split::kTest) == 3);
  CHECK(data->classes() == 10);
  CHECK(data->input() == ops::Port{ops::Shape{3, 32, 32}, false});
  const std::vector<std::uint32_t> own = {17, 6};  // of two files
  REQUIRE(data->hold(Split::kTrain, own).ok());
  CHECK(data->held_bytes(2) == 2 * 3072);
  auto batch = fill(*data, Split::kTrain, own);
  REQUIRE(batch.status.ok());
  CHECK(batch.labels() == std::vector<std::int32_t>{7, 6});
  const auto x = batch.reals();
  CHECK(x[3] == normal(17 + 3, 0.4914, 0.2470));
  CHECK(x[1024 + 32] == normal(17 + 50, 0.4822, 0.2435));
  CHECK(x[3072 + 2048 + 1] == normal(6 + 100 + 1, 0.4465, 0.2616));
  CHECK_FALSE(fill(*data, Split::kTrain, {5}).status.ok());
}

TEST_CASE("cifar100 takes the fine label") {
  const DataFolder folder;
  folder.write("train.bin", records(0, 12, 2));
  folder.write("test.bin", records(0, 2, 2));
  const auto data = must_open("cifar100", {{"path", folder.path()}});
  CHECK(data->classes() == 100);
  CHECK(data->size(Split::kTrain) == 12);
  CHECK(data->labels(Split::kTrain)[7] == 7);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  CHECK(fill(*data, Split::kTrain, {11}).reals()[0] == normal(11, 0.5071, 0.2673));
}

TEST_CASE("cifar: a broken file is named, with what was expected") {
  const Cifar10 folder;
  const auto fault = [&folder] {
    const std::string message = data_fault("cifar10", folder.settings());
    CHECK_THAT(message, Contains("cifar-10-binary.tar.gz"));
    return message;
  };
  const std::string name = "data_batch_3.bin";
  const std::string whole = folder.read(name);
  folder.write(name, whole.substr(0, 3073 + 100));
  CHECK_THAT(fault(), Contains(name) && Contains("ends inside record 1: 100 of 3073 bytes"));
  folder.write(name, std::string());
  CHECK_THAT(fault(), Contains(folder.file(name)) && Contains("is empty"));
  std::string labelled = whole;
  labelled[3073 * 2] = 10;
  folder.write(name, labelled);
  CHECK_THAT(fault(), Contains("label 10 in record 2, but there are 10 classes"));
  std::filesystem::remove(folder.file(name));
  CHECK_THAT(fault(), Contains(folder.file(name) + " is missing"));
  std::filesystem::create_directory(folder.file(name));
  CHECK_THAT(fault(), Contains("is a folder, not a file"));
  std::filesystem::remove(folder.file(name));
  REQUIRE(::mkfifo(folder.file(name).c_str(), 0600) == 0);
  CHECK_THAT(fault(), Contains("is a pipe, not a file"));
  CHECK_THAT(data_fault("cifar100", folder.settings()), Contains("cifar-100-binary.tar.gz"));
}

TEST_CASE("cifar: a file that shrinks after it was opened is noticed") {
  const Cifar10 folder;
  const auto data = must_open("cifar10", folder.settings());
  folder.write("data_batch_2.bin", records(4, 3, 1));
  const Status held = data->hold_all(Split::kTrain);
  REQUIRE_FALSE(held.ok());
  CHECK_THAT(held.error().message, Contains("changed while it was being read"));
}

}  // namespace
}  // namespace shoal::tests
