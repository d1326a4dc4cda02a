#include "node/data/dataset.h"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Dataset;
using node::Split;

using Blob = std::vector<unsigned char>;

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

/// A folder with a small Fashion-MNIST of its own, gone at the end.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("shoal-dataset-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
    write("train-labels-idx1-ubyte.gz", labels_file(30));
    write("train-images-idx3-ubyte.gz", images_file(30));
    write("t10k-labels-idx1-ubyte.gz", labels_file(5));
    write("t10k-images-idx3-ubyte.gz", images_file(5));
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const Blob& bytes) const {
    gzFile file = gzopen((path_ / name).c_str(), "wb");
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(file) == Z_OK);
  }
  void write_raw(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  std::string read_raw(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[nodiscard]] Result<std::unique_ptr<Dataset>> open() const {
    Options options;
    options.set("path", path_.string());
    return node::open_dataset("fashion-mnist", options, 1);
  }
  /// The error of opening and holding everything.
  [[nodiscard]] std::string error() const {
    auto dataset = open();
    Status status = dataset.ok() ? (*dataset)->hold_all(Split::kTrain) : Status(dataset.error());
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == Code::kData);
    CHECK_THAT(status.error().message, Contains("apt-get install dataset-fashion-mnist"));
    return status.error().message;
  }

 private:
  std::filesystem::path path_;
};

TEST_CASE("fashion-mnist reads labels, shapes and normalised pixels") {
  const Folder folder;
  auto dataset = folder.open();
  REQUIRE(dataset.ok());
  Dataset& data = **dataset;
  CHECK(data.size(Split::kTrain) == 30);
  CHECK(data.size(Split::kTest) == 5);
  CHECK(data.features() == 784);
  CHECK(data.classes() == 10);
  CHECK(data.labels(Split::kTrain)[13] == 3);
  REQUIRE(data.hold_all(Split::kTrain).ok());
  std::vector<float> x(2 * 784);
  std::array<std::int32_t, 2> labels{};
  const std::array<std::uint32_t, 2> indices = {7, 0};
  REQUIRE(data.fill(Split::kTrain, indices, x, labels).ok());
  CHECK(labels == std::array<std::int32_t, 2>{7, 0});
  CHECK(x[0] == static_cast<float>((7 / 255.0 - 0.2860) / 0.3530));
  CHECK(x[784 + 783] == static_cast<float>(-0.2860 / 0.3530));
}

TEST_CASE("a private part holds its own samples and no others") {
  const Folder folder;
  auto dataset = folder.open();
  REQUIRE(dataset.ok());
  const std::array<std::uint32_t, 3> own = {21, 2, 9};
  REQUIRE((*dataset)->hold(Split::kTrain, own).ok());
  std::vector<float> x(3 * 784);
  std::array<std::int32_t, 3> labels{};
  REQUIRE((*dataset)->fill(Split::kTrain, own, x, labels).ok());
  CHECK(labels == std::array<std::int32_t, 3>{1, 2, 9});
  CHECK(x[0] == static_cast<float>((21 / 255.0 - 0.2860) / 0.3530));
  const std::array<std::uint32_t, 3> strange = {21, 3, 9};
  const auto refused = (*dataset)->fill(Split::kTrain, strange, x, labels);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("image 3") && Contains("not held"));
  CHECK((*dataset)->held_bytes(3) == 3 * 784);
  const std::array<std::uint32_t, 1> past = {30};
  CHECK_FALSE((*dataset)->hold(Split::kTrain, past).ok());
}

TEST_CASE("a missing file is named, with how to get it") {
  const Folder folder;
  std::filesystem::remove(folder.path() / "t10k-images-idx3-ubyte.gz");
  CHECK_THAT(folder.error(), Contains((folder.path() / "t10k-images-idx3-ubyte.gz").string()) &&
                                 Contains("is missing"));
}

TEST_CASE("a truncated file is told from a damaged one") {
  const Folder folder;
  const std::string name = "train-images-idx3-ubyte.gz";
  const std::string whole = folder.read_raw(name);
  folder.write_raw(name, whole.substr(0, whole.size() / 2));
  CHECK_THAT(folder.error(), Contains(name) && Contains("ends early"));
  folder.write_raw(name, whole.substr(0, whole.size() - 4));  // only the length at the end is gone
  CHECK_THAT(folder.error(), Contains("ends early"));
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);
  folder.write_raw(name, damaged);  // the checksum
  CHECK_THAT(folder.error(), Contains("damaged"));
  folder.write_raw(name, "");
  CHECK_THAT(folder.error(), Contains(name));
}

TEST_CASE("a foreign file is refused") {
  const Folder folder;
  const std::string images = "train-images-idx3-ubyte.gz";
  const std::string labels = "train-labels-idx1-ubyte.gz";
  folder.write_raw(images, "<html>not found</html>");
  CHECK_THAT(folder.error(), Contains(images) && Contains("no gzip file"));
  folder.write(images, labels_file(30));
  CHECK_THAT(folder.error(), Contains("no IDX file of bytes with 3 dimensions"));
  folder.write(images, images_file(30, 32));
  CHECK_THAT(folder.error(), Contains("28 x 28"));
  folder.write(images, images_file(29));
  CHECK_THAT(folder.error(), Contains("29 images, but there are 30 labels"));
  Blob longer = images_file(30);
  longer.push_back(0);
  folder.write(images, longer);
  CHECK_THAT(folder.error(), Contains("more than its header says"));
  folder.write(images, images_file(30));
  folder.write(labels, labels_file(30, 10));
  CHECK_THAT(folder.error(), Contains(labels) && Contains("label 10 at item 0"));
}

TEST_CASE("a header that promises too much costs nothing") {
  const Folder folder;
  Blob huge;
  put_u32(huge, 0x801);
  put_u32(huge, 0xFFFFFFFF);
  folder.write("train-labels-idx1-ubyte.gz", huge);
  CHECK_THAT(folder.error(), Contains("impossible size"));
  Blob hollow;
  put_u32(hollow, 0x801);
  put_u32(hollow, 1U << 28U);  // lawful, but the file ends here
  folder.write("train-labels-idx1-ubyte.gz", hollow);
  CHECK_THAT(folder.error(), Contains("ends early"));
}

TEST_CASE("synthetic blobs repeat by seed and can be told apart") {
  const node::DatasetEntry* entry = nullptr;
  for (const auto& e : node::dataset_registry()) {
    entry = e.name == "synthetic" ? &e : entry;
  }
  REQUIRE(entry != nullptr);
  const Options options = Options::defaults(entry->options);
  auto a = entry->open(options, 5);
  auto b = entry->open(options, 5);
  REQUIRE((a.ok() && b.ok()));
  REQUIRE((*a)->hold_all(Split::kTrain).ok());
  REQUIRE((*a)->hold_all(Split::kTest).ok());
  REQUIRE((*b)->hold_all(Split::kTrain).ok());
  const std::size_t features = (*a)->features();
  std::vector<std::uint32_t> indices(64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    indices[i] = i;
  }
  std::vector<float> x(64 * features);
  std::vector<float> y(64 * features);
  std::vector<std::int32_t> labels(64);
  REQUIRE((*a)->fill(Split::kTrain, indices, x, labels).ok());
  REQUIRE((*b)->fill(Split::kTrain, indices, y, labels).ok());
  CHECK(x == y);
  REQUIRE((*a)->fill(Split::kTest, indices, y, labels).ok());
  CHECK(x != y);
  // The nearest training sample has the right label, nearly always.
  std::size_t right = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    double best = 1e9;
    std::size_t who = 0;
    for (std::size_t k = 0; k < 64; ++k) {
      double distance = 0;
      for (std::size_t f = 0; f < features; ++f) {
        const double d =
            static_cast<double>(y[i * features + f]) - static_cast<double>(x[k * features + f]);
        distance += d * d;
      }
      if (distance < best) {
        best = distance;
        who = k;
      }
    }
    right += labels[i] == static_cast<std::int32_t>(who % 4) ? 1 : 0;
  }
  CHECK(right >= 60);
}

TEST_CASE("Debian's Fashion-MNIST is read whole", "[dataset]") {
  const std::string path = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(path)) {
    WARN(path << " is not installed; nothing was checked");
    SUCCEED();
    return;
  }
  Options options;
  options.set("path", path);
  auto dataset = node::open_dataset("fashion-mnist", options, 1);
  REQUIRE(dataset.ok());
  Dataset& data = **dataset;
  CHECK(data.size(Split::kTrain) == 60000);
  CHECK(data.size(Split::kTest) == 10000);
  REQUIRE(data.hold_all(Split::kTest).ok());
  std::vector<std::uint32_t> all(10000);
  for (std::uint32_t i = 0; i < 10000; ++i) {
    all[i] = i;
  }
  std::vector<float> x(all.size() * data.features());
  std::vector<std::int32_t> labels(all.size());
  REQUIRE(data.fill(Split::kTest, all, x, labels).ok());
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
