#include "node/data/idx_images.h"
#include "node/data/registry.h"
#include "node/data/specs.h"

namespace shoal::node {
namespace {

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  IdxFiles files;
  files.splits[0] = {options.get_string("train_images"), options.get_string("train_labels")};
  files.splits[1] = {options.get_string("test_images"), options.get_string("test_labels")};
  files.classes = options.get_int("classes");
  files.mean = options.get_float("mean");
  files.deviation = options.get_float("deviation");
  files.remedy =
      "; expected IDX files of bytes, plain or .gz: set data.train_images, data.train_labels, "
      "data.test_images and data.test_labels";
  return open_idx_images(std::move(files), options, seed);
}

}  // namespace

DatasetEntry idx_dataset() {
  std::vector<OptionSpec> options = Augment::options();
  options.push_back(path_option("train_images", "train-images-idx3-ubyte.gz", "file of images"));
  options.push_back(path_option("train_labels", "train-labels-idx1-ubyte.gz", "their labels"));
  options.push_back(path_option("test_images", "t10k-images-idx3-ubyte.gz", "images to test on"));
  options.push_back(path_option("test_labels", "t10k-labels-idx1-ubyte.gz", "their labels"));
  options.push_back(int_option("classes", 0, 0, 256, "classes; 0: as the training labels say"));
  options.push_back(float_option("mean", 0.5, 0, 1, "of pixels in [0, 1], taken from each"));
  options.push_back(float_option("deviation", 0.5, 1e-3, 1e3, "what that is divided by"));
  return {"idx", "images of any shape in IDX files, the format of MNIST", std::move(options), open};
}

}  // namespace shoal::node
