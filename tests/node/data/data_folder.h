#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/data/dataset.h"
#include "node/data/loader.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace shoal::tests {

using Blob = std::vector<unsigned char>;

/// A folder of its own for files of a data set, gone at the end.
class DataFolder {
 public:
  [[nodiscard]] std::string path() const { return folder_.path().string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(file(name), std::ios::binary) << bytes;
  }
  void write(const std::string& name, const Blob& bytes) const {
    write(name, std::string(bytes.begin(), bytes.end()));
  }
  void write_gzip(const std::string& name, const Blob& bytes) const {
    gzFile out = gzopen(file(name).c_str(), "wb");
    REQUIRE(gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(out) == Z_OK);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TempFolder folder_;
};

using Settings = std::vector<std::pair<std::string, OptionValue>>;

/// A data set of the registry under its defaults and these settings.
inline Result<std::unique_ptr<node::Dataset>> open_data(const std::string& name,
                                                        const Settings& settings,
                                                        std::uint64_t seed = 1) {
  for (const auto& entry : node::dataset_registry()) {
    if (entry.name == name) {
      Options options = Options::defaults(entry.options);
      for (const auto& [key, value] : settings) {
        options.set(key, value);
      }
      return node::open_dataset(name, options, seed);
    }
  }
  return node::open_dataset(name, {}, seed);
}

/// The same, which must be good.
inline std::unique_ptr<node::Dataset> must_open(const std::string& name, const Settings& settings,
                                                std::uint64_t seed = 1) {
  auto dataset = open_data(name, settings, seed);
  INFO((dataset.ok() ? "" : dataset.error().message));
  REQUIRE(dataset.ok());
  return std::move(dataset).value();
}

/// The sentence that opening or holding everything fails with; it must be about data.
inline std::string data_fault(const std::string& name, const Settings& settings) {
  auto dataset = open_data(name, settings);
  Status status = dataset.ok() ? (*dataset)->hold_all(node::Split::kTrain) : dataset.error();
  if (status.ok()) {
    status = (*dataset)->hold_all(node::Split::kTest);
  }
  REQUIRE_FALSE(status.ok());
  CHECK(exit_code(status.error().code) == 3);
  return status.error().message;
}

/// A batch with whatever types the data set has.
struct Filled {
  node::HostBatch batch;
  Status status;
  [[nodiscard]] std::vector<float> reals() { return copy<float>(batch.x()); }
  [[nodiscard]] std::vector<std::int32_t> tokens() { return copy<std::int32_t>(batch.x()); }
  [[nodiscard]] std::vector<std::int32_t> labels() { return copy<std::int32_t>(batch.targets()); }
  [[nodiscard]] std::vector<float> targets() { return copy<float>(batch.targets()); }

 private:
  template <typename T>
  static std::vector<T> copy(const ops::TensorView& view) {
    const auto span = view.span<T>();
    return {span.begin(), span.end()};
  }
};

inline Filled fill(const node::Dataset& data, node::Split split,
                   const std::vector<std::uint32_t>& indices, std::uint64_t step = 0) {
  Filled out;
  out.batch.resize(data, indices.size());
  out.status = data.fill({split, indices, step}, out.batch.x(), out.batch.targets());
  return out;
}

}  // namespace shoal::tests
