#include "node/data/cifar.h"

#include <array>
#include <filesystem>

#include "node/data/image_dataset.h"
#include "node/data/registry.h"
#include "node/data/specs.h"

namespace shoal::node {
namespace {

/// One of the two data sets.
struct Kind {
  CifarRecord record;
  std::array<std::vector<std::string>, 2> files;  ///< train, test
  std::vector<double> means;                      ///< of the 50,000 training images
  std::vector<double> deviations;
  std::string remedy;
};

Kind cifar10() {
  return {{1, 10},
          {{{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
             "data_batch_5.bin"},
            {"test_batch.bin"}}},
          {0.4914, 0.4822, 0.4465},
          {0.2470, 0.2435, 0.2616},
          "; expected the binary version of CIFAR-10: unpack cifar-10-binary.tar.gz of "
          "https://www.cs.toronto.edu/~kriz/cifar.html and set data.path to its folder "
          "cifar-10-batches-bin"};
}

Kind cifar100() {
  return {{2, 100},
          {{{"train.bin"}, {"test.bin"}}},
          {0.5071, 0.4865, 0.4409},
          {0.2673, 0.2564, 0.2762},
          "; expected the binary version of CIFAR-100: unpack cifar-100-binary.tar.gz of "
          "https://www.cs.toronto.edu/~kriz/cifar.html and set data.path to its folder "
          "cifar-100-binary"};
}

class Cifar final : public ImageDataset {
 public:
  explicit Cifar(Kind kind) : kind_(std::move(kind)) {}

  Status open(const Options& options, std::uint64_t seed) {
    folder_ = options.get_string("path");
    for (const Split split : {Split::kTrain, Split::kTest}) {
      part(split).name = folder_.string();
      for (const std::string& file : files(split)) {
        const std::string path = (folder_ / file).string();
        const Status status = read_labels(path, part(split).labels);
        if (!status.ok()) {
          return about_file(path, status.error(), kind_.remedy);
        }
      }
    }
    Format format;
    format.shape = ops::Shape{3, 32, 32};
    format.size = {3, 32, 32};
    format.classes = kind_.record.classes;
    format.means = kind_.means;
    format.deviations = kind_.deviations;
    SHOAL_ASSIGN(format.augment, Augment::make(options, format.size));
    format.seed = seed;
    set_format(std::move(format));
    return {};
  }

 protected:
  Result<std::vector<std::uint8_t>> read(Split split, const Held& wanted) const override {
    std::vector<std::uint8_t> pixels;
    pixels.reserve(wanted.count() * kCifarPixels);
    std::uint32_t first = 0;
    std::string path;
    for (const std::string& file : files(split)) {
      path = (folder_ / file).string();
      const auto behind = read_file(path, first, wanted, pixels);
      if (!behind.ok()) {
        return about_file(path, behind.error(), kind_.remedy);
      }
      first = *behind;
    }
    if (first != size(split)) {
      return data_error(path + " changed while it was being read" + kind_.remedy);
    }
    return pixels;
  }

 private:
  const std::vector<std::string>& files(Split split) const {
    return kind_.files[static_cast<std::size_t>(split)];
  }

  Status read_labels(const std::string& path, std::vector<std::int32_t>& labels) const {
    SHOAL_ASSIGN(const auto source, open_bytes(path));
    return read_cifar_labels(*source, kind_.record, labels);
  }

  Result<std::uint32_t> read_file(const std::string& path, std::uint32_t first, const Held& wanted,
                                  std::vector<std::uint8_t>& pixels) const {
    SHOAL_ASSIGN(const auto source, open_bytes(path));
    return read_cifar_pixels(*source, kind_.record, first, wanted, pixels);
  }

  Kind kind_;
  std::filesystem::path folder_;
};

template <Kind (*kKind)()>
Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  auto dataset = std::make_unique<Cifar>(kKind());
  SHOAL_TRY(dataset->open(options, seed));
  return std::unique_ptr<Dataset>(std::move(dataset));
}

std::vector<OptionSpec> options_in(const char* folder) {
  std::vector<OptionSpec> options = Augment::options();
  options.push_back(path_option("path", folder, "folder with the .bin files"));
  return options;
}

}  // namespace

DatasetEntry cifar10_dataset() {
  return {"cifar10", "60,000 colour images of things, 32 x 32, ten classes; binary version",
          options_in("cifar-10-batches-bin"), open<cifar10>};
}

DatasetEntry cifar100_dataset() {
  return {"cifar100", "60,000 colour images, 32 x 32, a hundred fine classes; binary version",
          options_in("cifar-100-binary"), open<cifar100>};
}

}  // namespace shoal::node
