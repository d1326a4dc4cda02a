#include "node/data/npy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "node/data/registry.h"
#include "node/data/specs.h"
#include "node/data/split_rows.h"
#include "node/data/table_dataset.h"

namespace shoal::node {
namespace {

constexpr std::int64_t kClassesMax = 1 << 20U;
constexpr const char* kRemedy =
    "; expected arrays of numpy.save, samples first: set data.x and data.y and, for samples to "
    "test on, data.test_x and data.test_y or data.test_fraction";

Error of_item(std::uint32_t item, const std::string& what) {
  return data_error("item " + std::to_string(item) + " " + what);
}

/// Calls `take(index, numbers)` for each item behind the header, then expects the end.
template <typename Take>
Status for_items(ByteSource& source, const NpyHeader& header, Take take) {
  std::vector<std::byte> bytes(header.item_bytes);
  std::vector<double> numbers(header.item.elements());
  for (std::uint32_t i = 0; i < header.count; ++i) {
    SHOAL_TRY(source.read(bytes));
    npy_numbers(header.type, bytes, numbers);
    SHOAL_TRY(take(i, std::span<const double>(numbers)));
  }
  return source.expect_end();
}

class NpyDataset final : public TableDataset {
 public:
  Status open(const Options& options, std::uint64_t seed) {
    scale_ = options.get_float("scale");
    files_[0] = {options.get_string("x"), options.get_string("y"), {}, {}, {}, {}};
    files_[1] = {options.get_string("test_x"), options.get_string("test_y"), {}, {}, {}, {}};
    if (files_[1].x.empty() != files_[1].y.empty()) {
      return config_error("data.test_x and data.test_y go together: set both or neither");
    }
    const std::size_t files = files_[1].x.empty() ? 1 : 2;
    for (std::size_t file = 0; file < files; ++file) {
      SHOAL_TRY(open_x(files_[file]));
      SHOAL_TRY(open_y(files_[file]));
    }
    if (files == 2) {
      SHOAL_TRY(check_alike());
      rows_ = whole_rows(files_[0].header.count, files_[1].header.count);
    } else {
      auto split = split_rows(files_[0].header.count, options.get_float("test_fraction"), seed);
      if (!split.ok()) {
        return about_file(files_[0].x, split.error(), kRemedy);
      }
      rows_ = std::move(split).value();
    }
    take_targets();
    return {};
  }

 protected:
  Result<std::vector<float>> read(Split split, const Held& wanted) const override {
    const File& file = file_of(split);
    auto x = read_x(file, rows_[static_cast<std::size_t>(split)], wanted);
    return x.ok() ? std::move(x) : about_file(file.x, x.error(), kRemedy);
  }

 private:
  struct File {
    std::string x;
    std::string y;
    NpyHeader header;  ///< of x
    NpyHeader y_header;
    std::vector<std::int32_t> labels;  ///< of all rows
    std::vector<float> targets;        ///< alike, or empty
  };

  [[nodiscard]] const File& file_of(Split split) const {
    return files_[split == Split::kTest && !files_[1].x.empty() ? 1 : 0];
  }

  static Result<NpyHeader> header_of(const std::string& path) {
    SHOAL_ASSIGN(const auto source, open_bytes(path));
    return read_npy_header(*source);
  }

  static Status open_x(File& file) {
    auto header = header_of(file.x);
    if (!header.ok()) {
      return about_file(file.x, header.error(), kRemedy);
    }
    file.header = std::move(header).value();
    if (file.header.item.rank() == 0) {
      return about_file(file.x, data_error("has one dimension; save x.reshape(-1, 1)"), kRemedy);
    }
    return {};
  }

  static Status open_y(File& file) {
    const Status status = read_y(file);
    return status.ok() ? status : about_file(file.y, status.error(), kRemedy);
  }

  /// Whole numbers are classes, others are reals to predict.
  static Status read_y(File& file) {
    SHOAL_ASSIGN(const auto source, open_bytes(file.y));
    SHOAL_ASSIGN(file.y_header, read_npy_header(*source));
    const NpyHeader& header = file.y_header;
    if (header.count != file.header.count) {
      return data_error("holds " + std::to_string(header.count) + " targets, but there are " +
                        std::to_string(file.header.count) + " samples in " + file.x);
    }
    const bool classes = npy_whole(header.type);
    if (classes && header.item.elements() != 1) {
      return data_error("holds whole numbers " + header.item.text() +
                        " for each sample; classes are one number each, reals are f4 or f8");
    }
    return for_items(*source, header, [&](std::uint32_t i, std::span<const double> y) -> Status {
      if (classes && (y[0] < 0 || y[0] >= kClassesMax)) {
        return of_item(i, "is no class: classes count from 0 and end before 2^20");
      }
      file.labels.push_back(classes ? static_cast<std::int32_t>(y[0]) : 0);
      for (const double value : y) {
        if (!(std::abs(value) <= double{std::numeric_limits<float>::max()})) {
          return of_item(i, "is not finite as a float");
        }
        if (!classes) {
          file.targets.push_back(static_cast<float>(value));
        }
      }
      return {};
    });
  }

  Status check_alike() const {
    const auto& train = files_[0];
    const auto& test = files_[1];
    if (!(test.header.item == train.header.item)) {
      return about_file(test.x,
                        data_error("holds samples " + test.header.item.text() + ", but " + train.x +
                                   " holds " + train.header.item.text()),
                        kRemedy);
    }
    const bool alike = npy_whole(test.y_header.type) == npy_whole(train.y_header.type) &&
                       test.y_header.item == train.y_header.item;
    return alike ? Status{}
                 : about_file(test.y, data_error("holds targets of another kind than " + train.y),
                              kRemedy);
  }

  void take_targets() {
    const bool classes = npy_whole(files_[0].y_header.type);
    const ops::Shape item = files_[0].y_header.item;
    const std::size_t width = item.elements();
    std::int32_t most = 0;
    for (const Split split : {Split::kTrain, Split::kTest}) {
      const File& file = file_of(split);
      part(split).name = file.x;
      for (const std::uint32_t row : rows_[static_cast<std::size_t>(split)]) {
        part(split).labels.push_back(file.labels[row]);
        most = std::max(most, file.labels[row]);
        if (!classes) {
          const auto from = file.targets.begin() + static_cast<std::ptrdiff_t>(row * width);
          part(split).targets.insert(part(split).targets.end(), from,
                                     from + static_cast<std::ptrdiff_t>(width));
        }
      }
    }
    for (File& file : files_) {
      file.labels = {};
      file.targets = {};
    }
    const ops::Port reals{item.rank() == 0 ? ops::Shape{1} : item, false};
    set_ports(files_[0].header.item, classes ? ops::Port{ops::Shape{}, true} : reals,
              classes ? most + 1 : static_cast<std::int64_t>(reals.shape.cols()));
  }

  Result<std::vector<float>> read_x(const File& file, const std::vector<std::uint32_t>& rows,
                                    const Held& wanted) const {
    SHOAL_ASSIGN(const auto source, open_bytes(file.x));
    SHOAL_ASSIGN(const NpyHeader header, read_npy_header(*source));
    if (header.count != file.header.count || !(header.item == file.header.item)) {
      return data_error("changed while it was being read");
    }
    std::vector<float> x;
    // A header may promise more than there is: beyond this, memory grows with what is read.
    x.reserve(std::min(wanted.count() * header.item.elements(), std::size_t{1} << 26U));
    std::uint32_t next = 0;  // sample whose row comes next
    SHOAL_TRY(for_items(*source, header, [&](std::uint32_t row, std::span<const double> numbers) {
      if (next == rows.size() || rows[next] != row || !wanted.has(next++)) {
        return Status{};
      }
      for (const double number : numbers) {
        const double value = number * scale_;
        if (!(std::abs(value) <= double{std::numeric_limits<float>::max()})) {
          return Status(of_item(row, "holds a number that is not finite as a float"));
        }
        x.push_back(static_cast<float>(value));
      }
      return Status{};
    }));
    return x;
  }

  std::array<File, 2> files_;
  SplitRows rows_;
  double scale_ = 1;
};

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  auto dataset = std::make_unique<NpyDataset>();
  SHOAL_TRY(dataset->open(options, seed));
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace

DatasetEntry npy_dataset() {
  return {
      "npy",
      "NumPy arrays: x of reals, y of classes (whole numbers) or of reals to predict",
      {path_option("x", "x.npy", "samples, plain or .gz"),
       path_option("y", "y.npy", "their targets"),
       path_option("test_x", "", "samples to test on; empty: a share of the first"),
       path_option("test_y", "", "their targets"),
       float_option("scale", 1, 1e-9, 1e9, "factor of x; 0.00392157 for bytes of images"),
       float_option("test_fraction", 0.2, 0, 0.9, "share of samples to test on, drawn by seed")},
      open};
}

}  // namespace shoal::node
