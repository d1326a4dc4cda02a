#include "node/data/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "node/data/idx.h"
#include "tests/node/data/data_folder.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Dataset;
using node::Split;

void put_u32(Blob& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<unsigned char>(value >> static_cast<unsigned>(shift)));
  }
}

Blob labels_file(std::uint32_t count, unsigned char first = 0) {
  Blob out;
  put_u32(out, 0x801);
  put_u32(out, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    out.push_back(static_cast<unsigned char>(i == 0 ? first : i % 10));
  }
  return out;
}

/// Image i is all of grey i.
Blob images_file(std::uint32_t count, std::uint32_t side = 28) {
  Blob out;
  put_u32(out, 0x803);
  put_u32(out, count);
  put_u32(out, side);
  put_u32(out, side);
  for (std::uint32_t i = 0; i < count; ++i) {
    out.insert(out.end(), std::size_t{side} * side, static_cast<unsigned char>(i));
  }
  return out;
}

/// A folder with a small Fashion-MNIST of its own.
class Folder : public DataFolder {
 public:
  Folder() {
    write_gzip("train-labels-idx1-ubyte.gz", labels_file(30));
    write_gzip("train-images-idx3-ubyte.gz", images_file(30));
    write_gzip("t10k-labels-idx1-ubyte.gz", labels_file(5));
    write_gzip("t10k-images-idx3-ubyte.gz", images_file(5));
  }

  [[nodiscard]] std::unique_ptr<Dataset> open(const std::string& augment = "none") const {
    return must_open("fashion-mnist", {{"path", path()}, {"augment", augment}});
  }
  /// The error of opening and holding everything.
  [[nodiscard]] std::string error() const {
    const std::string message = data_fault("fashion-mnist", {{"path", path()}});
    CHECK_THAT(message, Contains("apt-get install dataset-fashion-mnist"));
    return message;
  }
};

/// Values are at most 3 in size, and a product and a sum are rounded: 3 * 2^-23.
Approx normal(int value) { return Approx((value / 255.0 - 0.2860) / 0.3530).margin(3 * 0x1p-23); }

TEST_CASE("fashion-mnist reads labels, shapes and normalised pixels") {
  const Folder folder;
  const auto data = folder.open();
  CHECK(data->size(Split::kTrain) == 30);
  CHECK(data->size(Split::kTest) == 5);
  CHECK(data->input() == ops::Port{ops::Shape{1, 28, 28}, false});
  CHECK(data->target() == ops::Port{ops::Shape{}, true});
  CHECK(data->classes() == 10);
  CHECK(data->labels(Split::kTrain)[13] == 3);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  auto batch = fill(*data, Split::kTrain, {7, 0});
  REQUIRE(batch.status.ok());
  CHECK(batch.labels() == std::vector<std::int32_t>{7, 0});
  CHECK(batch.reals()[0] == normal(7));
  CHECK(batch.reals()[784 + 783] == normal(0));
}

TEST_CASE("a private part holds its own samples and no others") {
  const Folder folder;
  const auto data = folder.open();
  const std::vector<std::uint32_t> own = {21, 2, 9};
  REQUIRE(data->hold(Split::kTrain, own).ok());
  auto batch = fill(*data, Split::kTrain, own);
  REQUIRE(batch.status.ok());
  CHECK(batch.labels() == std::vector<std::int32_t>{1, 2, 9});
  CHECK(batch.reals()[0] == normal(21));
  const auto refused = fill(*data, Split::kTrain, {21, 3, 9}).status;
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("sample 3") && Contains("not held"));
  CHECK(data->held_bytes(3) == 3 * 784);
  const std::vector<std::uint32_t> past = {30};
  CHECK_FALSE(data->hold(Split::kTrain, past).ok());
  CHECK(fill(*data, Split::kTrain, own).status.ok());  // what was held still is
}

TEST_CASE("a missing file is named, with how to get it") {
  const Folder folder;
  std::filesystem::remove(folder.file("t10k-images-idx3-ubyte.gz"));
  CHECK_THAT(folder.error(),
             Contains(folder.file("t10k-images-idx3-ubyte.gz")) && Contains("is missing"));
}

TEST_CASE("a truncated file is told from a damaged one") {
  const Folder folder;
  const std::string name = "train-images-idx3-ubyte.gz";
  const std::string whole = folder.read(name);
  folder.write(name, whole.substr(0, whole.size() / 2));
  CHECK_THAT(folder.error(), Contains(name) && Contains("ends early"));
  folder.write(name, whole.substr(0, whole.size() - 4));  // only the length at the end is gone
  CHECK_THAT(folder.error(), Contains("ends early"));
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);
  folder.write(name, damaged);  // the checksum
  CHECK_THAT(folder.error(), Contains("damaged"));
  folder.write(name, std::string());
  CHECK_THAT(folder.error(), Contains(name));
}

TEST_CASE("a foreign file is refused") {
  const Folder folder;
  const std::string images = "train-images-idx3-ubyte.gz";
  const std::string labels = "train-labels-idx1-ubyte.gz";
  folder.write(images, "<html>not found</html>");
  CHECK_THAT(folder.error(), Contains(images) && Contains("no gzip file"));
  folder.write_gzip(images, labels_file(30));
  CHECK_THAT(folder.error(), Contains("no IDX file of bytes with 3 dimensions"));
  folder.write_gzip(images, images_file(30, 32));
  CHECK_THAT(folder.error(), Contains("28 x 28, but of 32 x 32"));
  folder.write_gzip(images, images_file(29));
  CHECK_THAT(folder.error(), Contains("29 images, but there are 30 labels"));
  Blob longer = images_file(30);
  longer.push_back(0);
  folder.write_gzip(images, longer);
  CHECK_THAT(folder.error(), Contains("more than its header says"));
  folder.write_gzip(images, images_file(30));
  folder.write_gzip(labels, labels_file(30, 10));
  CHECK_THAT(folder.error(), Contains(labels) && Contains("label 10 at item 0"));
}

TEST_CASE("a header that promises too much costs nothing") {
  const Folder folder;
  Blob huge;
  put_u32(huge, 0x801);
  put_u32(huge, 0xFFFFFFFF);
  folder.write_gzip("train-labels-idx1-ubyte.gz", huge);
  CHECK_THAT(folder.error(), Contains("impossible size"));
  Blob hollow;
  put_u32(hollow, 0x801);
  put_u32(hollow, 1U << 28U);  // lawful, but the file ends here
  folder.write_gzip("train-labels-idx1-ubyte.gz", hollow);
  CHECK_THAT(folder.error(), Contains("ends early"));
}

/// Remembers how much it was asked for at once.
class Asked final : public node::ByteSource {
 public:
  Result<std::size_t> read_some(std::span<std::byte> out) override {
    most = std::max(most, out.size());
    return 0;
  }
  std::size_t most = 0;
};

TEST_CASE("idx: an item is read in pieces, so that its size costs nothing until it is there") {
  const node::IdxHeader header{1, {1U << 15U, 1U << 15U}, 1U << 30U};
  const std::vector<std::uint32_t> first = {0};
  const auto held = node::Held::make(first, 1, "images");
  Asked source;
  const auto items = node::read_idx_items(source, header, *held);
  REQUIRE_FALSE(items.ok());
  CHECK_THAT(items.error().message, Contains("ends early"));
  CHECK(source.most > 0);
  CHECK(source.most <= 1U << 20U);
}

TEST_CASE("idx takes any shape, plain or packed, and counts classes") {
  const DataFolder folder;
  Blob rows;
  put_u32(rows, 0x802);
  put_u32(rows, 3);
  put_u32(rows, 2);
  rows.insert(rows.end(), {0, 255, 51, 102, 153, 204});
  folder.write("x", rows);
  folder.write("y", labels_file(3, 6));
  Blob cube;
  put_u32(cube, 0x804);
  for (const std::uint32_t size : {2U, 3U, 2U, 1U}) {
    put_u32(cube, size);
  }
  for (unsigned char i = 0; i < 12; ++i) {
    cube.push_back(i);
  }
  folder.write("cube", cube);
  folder.write_gzip("two.gz", labels_file(2));
  const auto files = [&folder](const std::string& x, const std::string& y) {
    return Settings{{"train_images", folder.file(x)},
                    {"train_labels", folder.file(y)},
                    {"test_images", folder.file(x)},
                    {"test_labels", folder.file(y)}};
  };
  const auto data = must_open("idx", files("x", "y"));
  CHECK(data->input().shape == ops::Shape{2});
  CHECK(data->classes() == 7);
  REQUIRE(data->hold_all(Split::kTest).ok());
  const auto x = fill(*data, Split::kTest, {0, 2}).reals();
  const std::vector<double> expected = {-1, 1, 0.2, 0.6};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(x[i] == Approx(expected[i]).margin(3 * 0x1p-23));
  }
  CHECK(must_open("idx", files("cube", "two.gz"))->input().shape == ops::Shape{3, 2, 1});

  CHECK_THAT(data_fault("idx", files("cube", "y")),
             Contains("holds 2 images, but there are 3 labels") && Contains("data.train_images"));
  CHECK_THAT(data_fault("idx", files("y", "y")), Contains("with 2 to 4 dimensions"));
  CHECK_THAT(data_fault("idx", files("missing", "y")), Contains("missing is missing"));
  Settings odd = files("x", "y");
  odd[2].second = folder.file("cube");
  CHECK_THAT(data_fault("idx", odd), Contains("cube is no IDX file of bytes with 2 dimensions"));
  Settings few = files("x", "y");
  few.emplace_back("classes", std::int64_t{6});
  CHECK_THAT(data_fault("idx", few), Contains("label 6 at item 0, but there are 6 classes"));
  Settings crop = files("x", "y");
  crop.emplace_back("augment", std::string("crop-flip"));
  const auto refused = open_data("idx", crop);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kConfig);
}

TEST_CASE("only training images are cropped and flipped, by seed, step and index alone") {
  const Folder folder;
  const auto plain = folder.open();
  const auto data = folder.open("crop-flip");
  for (const auto* d : {plain.get(), data.get()}) {
    REQUIRE(const_cast<Dataset*>(d)->hold_all(Split::kTrain).ok());
    REQUIRE(const_cast<Dataset*>(d)->hold_all(Split::kTest).ok());
  }
  const std::vector<std::uint32_t> some = {3, 29, 11};
  CHECK(fill(*data, Split::kTest, {3, 4}, 5).reals() ==
        fill(*plain, Split::kTest, {3, 4}, 5).reals());
  auto first = fill(*data, Split::kTrain, some, 5).reals();
  CHECK(first != fill(*plain, Split::kTrain, some, 5).reals());
  CHECK(first == fill(*data, Split::kTrain, some, 5).reals());
  CHECK(first != fill(*data, Split::kTrain, some, 6).reals());
  const auto alone = fill(*data, Split::kTrain, {29}, 5).reals();
  CHECK(std::equal(alone.begin(), alone.end(), first.begin() + 784));
}

TEST_CASE("Debian's Fashion-MNIST is read whole", "[dataset]") {
  const std::string path = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(path)) {
    WARN(path << " is not installed; nothing was checked");
    SUCCEED();
    return;
  }
  const auto data = must_open("fashion-mnist", {{"path", path}});
  CHECK(data->size(Split::kTrain) == 60000);
  CHECK(data->size(Split::kTest) == 10000);
  REQUIRE(data->hold_all(Split::kTest).ok());
  std::vector<std::uint32_t> all(10000);
  std::iota(all.begin(), all.end(), 0U);
  auto batch = fill(*data, Split::kTest, all);
  REQUIRE(batch.status.ok());
  const auto x = batch.reals();
  const auto labels = batch.labels();
  double sum = 0;
  double squares = 0;
  for (const float v : x) {
    sum += static_cast<double>(v);
    squares += static_cast<double>(v) * static_cast<double>(v);
  }
  const auto count = static_cast<double>(x.size());
  // The constants are those of the training images; the test images differ in the third digit.
  CHECK(std::abs(sum / count) < 0.01);
  CHECK(std::abs(squares / count - 1) < 0.01);
  std::array<int, 10> histogram{};
  for (const auto label : labels) {
    ++histogram.at(static_cast<std::size_t>(label));
  }
  for (const int count_of_class : histogram) {
    CHECK(count_of_class == 1000);
  }
}

}  // namespace
}  // namespace shoal::tests
