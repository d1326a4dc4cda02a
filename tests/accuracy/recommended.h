#pragma once

#include <string>
#include <vector>

namespace shoal::accuracy {

/// A codec as we recommend to set it for the training of configs/lenet-codecs.toml.
struct Recommended {
  std::string codec;
  std::vector<std::string> settings;  ///< beside compress.codec, as behind --set
  double points = 0.5;  ///< of test accuracy that it may be off from fp32, in per cent
};

/// Every codec of the registry, in its order; those that recommended.cpp says nothing of with their
/// defaults.
std::vector<Recommended> recommended();

}  // namespace shoal::accuracy
