#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/data/dataset.h"
#include "node/data/image_dataset.h"

namespace shoal::node {

/// Four IDX files and what is known of them.
struct IdxFiles {
  struct Pair {
    std::string images;
    std::string labels;
  };
  std::array<Pair, 2> splits;             ///< train, test
  std::vector<std::uint32_t> item_shape;  ///< what it must be; empty: any
  std::int64_t classes = 0;               ///< 0: one more than the greatest training label
  double mean = 0;                        ///< of pixels in [0, 1]
  double deviation = 1;
  std::string remedy;  ///< behind every error
};

/// Images of IDX files with their labels. Items of rank 1 become samples [D], of rank 2 [1, H, W],
/// of rank 3 [C, H, W]. `options` are those of Augment.
/// Errors: kData, naming the file; kConfig for augmentation of what are no images.
Result<std::unique_ptr<Dataset>> open_idx_images(IdxFiles files, const Options& options,
                                                 std::uint64_t seed);

}  // namespace shoal::node
