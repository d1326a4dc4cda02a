#include <filesystem>

#include "node/data/idx_images.h"
#include "node/data/registry.h"
#include "node/data/specs.h"

namespace shoal::node {
namespace {

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  const std::filesystem::path folder = options.get_string("path");
  IdxFiles files;
  files.splits[0] = {(folder / "train-images-idx3-ubyte.gz").string(),
                     (folder / "train-labels-idx1-ubyte.gz").string()};
  files.splits[1] = {(folder / "t10k-images-idx3-ubyte.gz").string(),
                     (folder / "t10k-labels-idx1-ubyte.gz").string()};
  files.item_shape = {28, 28};
  files.classes = 10;
  files.mean = 0.2860;  // of the 60,000 training images
  files.deviation = 0.3530;
  files.remedy =
      "; expected Fashion-MNIST as Debian packs it: apt-get install dataset-fashion-mnist, or set "
      "data.path to a folder with its four .gz files";
  return open_idx_images(std::move(files), options, seed);
}

}  // namespace

DatasetEntry fashion_mnist_dataset() {
  std::vector<OptionSpec> options = Augment::options();
  options.push_back(
      path_option("path", "/usr/share/datasets/fashion-mnist", "folder with the four .gz files"));
  return {"fashion-mnist", "70,000 grey images of clothes, 28 x 28, ten classes",
          std::move(options), open};
}

}  // namespace shoal::node
