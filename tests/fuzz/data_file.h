#pragma once

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "node/data/dataset.h"
#include "node/data/loader.h"
#include "ops/base/check.h"

/// What fuzz targets of data sets share: bytes as a file, and a data set used as training does.
namespace shoal::fuzz {

/// One file a process and name, written anew for each input, gone at the end.
class DataFile {
 public:
  explicit DataFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               ("shoal-fuzz-" + std::to_string(::getpid()) + "-" + name))
                  .string()) {}
  ~DataFile() { std::filesystem::remove(path_); }
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  void write(std::span<const std::uint8_t> bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Settings = std::vector<std::pair<std::string, OptionValue>>;

inline void check_refusal(const Error& error) {
  SHOAL_CHECK(error.code == Code::kData && !error.message.empty(), "files are refused in words");
}

/// Every sample of a split: finite reals, classes in range.
inline void check_split(const node::Dataset& data, node::Split split) {
  std::vector<std::uint32_t> all(data.size(split));
  std::iota(all.begin(), all.end(), 0U);
  node::HostBatch batch;
  for (std::size_t begin = 0; begin < all.size(); begin += 16) {
    const auto part = std::span(all).subspan(begin, std::min<std::size_t>(16, all.size() - begin));
    batch.resize(data, part.size());
    SHOAL_CHECK(data.fill({split, part, begin}, batch.x(), batch.targets()).ok(), "held is given");
    for (const auto& view : {batch.x(), batch.targets()}) {
      if (view.dtype == ops::DType::kF32) {
        for (const float value : view.span<float>()) {
          SHOAL_CHECK(std::isfinite(value), "accepted numbers are finite");
        }
      } else {
        for (const std::int32_t value : view.span<std::int32_t>()) {
          SHOAL_CHECK(value >= 0 && value < data.classes(), "a class or token is one of them");
        }
      }
    }
  }
}

/// Opens a data set under its defaults and these settings: refused in words, or good throughout.
inline void use_dataset(const std::string& name, const Settings& settings) {
  for (const auto& entry : node::dataset_registry()) {
    if (entry.name != name) {
      continue;
    }
    Options options = Options::defaults(entry.options);
    for (const auto& [key, value] : settings) {
      options.set(key, value);
    }
    const auto data = entry.open(options, 1);
    if (!data.ok()) {
      return check_refusal(data.error());
    }
    for (const node::Split split : {node::Split::kTrain, node::Split::kTest}) {
      const Status held = (*data)->hold_all(split);
      if (!held.ok()) {
        return check_refusal(held.error());
      }
      check_split(**data, split);
    }
  }
}

}  // namespace shoal::fuzz
