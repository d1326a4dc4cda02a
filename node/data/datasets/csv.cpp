#include "node/data/csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "node/data/registry.h"
#include "node/data/specs.h"
#include "node/data/split_rows.h"
#include "node/data/table_dataset.h"

namespace shoal::node {
namespace {

constexpr std::size_t kClassesMax = 1000;
constexpr const char* kRemedy =
    "; expected a CSV or TSV file with a header line: set data.train_file, data.label and, for "
    "rows to test on, data.test_file or data.test_fraction";

/// Mean and deviation by Welford's recurrence, in the order of the rows, so in the same arithmetic
/// everywhere. Source: B. P. Welford, Technometrics 4 (1962), 419-420.
struct Moments {
  std::uint64_t count = 0;
  double mean = 0;
  double squares = 0;

  void add(double value) {
    ++count;
    const double before = value - mean;
    mean += before / static_cast<double>(count);
    squares += before * (value - mean);
  }
  /// 1 where all values are equal, so that they become 0.
  [[nodiscard]] double deviation() const {
    const double variance = squares / static_cast<double>(std::max<std::uint64_t>(count, 1));
    return variance > 0 ? std::sqrt(variance) : 1;
  }
};

/// Whether a float holds it, rounded. False for NaN.
bool is_float(double value) { return std::abs(value) <= double{std::numeric_limits<float>::max()}; }

bool is_target(const std::string& text) {
  const auto value = parse_real(text);
  return value && is_float(*value);
}

class CsvDataset final : public TableDataset {
 public:
  Status open(const Options& options, std::uint64_t seed) {
    paths_ = {options.get_string("train_file"), options.get_string("test_file")};
    label_ = options.get_string("label");
    drop_ = options.get_strings("drop");
    separator_ = options.get_string("separator");
    impute_ = options.get_string("missing") == "mean";
    real_target_ = options.get_string("target") == "real";
    const double fraction = options.get_float("test_fraction");
    const bool two_files = !paths_[1].empty();
    std::array<std::vector<std::string>, 2> labels;
    for (std::size_t file = 0; file < (two_files ? 2U : 1U); ++file) {
      SHOAL_TRY(in_file(file, [&](std::size_t row, Row& cells) {
        labels[file].push_back(cells[label_column_]);
        return row < std::numeric_limits<std::uint32_t>::max()
                   ? Status{}
                   : data_error("has more than 2^32 rows");
      }));
      if (labels[file].empty()) {
        return about_file(paths_[file], data_error("has no rows below its header"), kRemedy);
      }
    }
    const auto rows = static_cast<std::uint32_t>(labels[0].size());
    if (two_files) {
      rows_ = whole_rows(rows, static_cast<std::uint32_t>(labels[1].size()));
    } else {
      auto split = split_rows(rows, fraction, seed);
      if (!split.ok()) {
        return about_file(paths_[0], split.error(), kRemedy);
      }
      rows_ = std::move(split).value();
    }
    SHOAL_TRY(take_targets(labels));
    return take_moments();
  }

 protected:
  Result<std::vector<float>> read(Split split, const Held& wanted) const override {
    std::vector<float> x;
    x.reserve(wanted.count() * features_.size());
    const auto& rows = rows_[static_cast<std::size_t>(split)];
    std::uint32_t next = 0;  // sample whose row comes next
    SHOAL_TRY(for_rows(file_of(split), [&](std::size_t row, const Row& cells) -> Status {
      if (next == rows.size() || rows[next] != row) {
        return {};
      }
      if (wanted.has(next++)) {
        return put_features(cells, x);
      }
      return {};
    }));
    if (next != rows.size()) {
      return about_file(paths_[file_of(split)], changed(), kRemedy);
    }
    return x;
  }

 private:
  using Row = std::vector<std::string>;

  /// Appends a row's features, normalised; the mean for what is missing.
  Status put_features(const Row& cells, std::vector<float>& x) const {
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const std::string& cell = cells[features_[f]];
      const auto number = parse_real(cell);
      if (!number && !is_missing(cell)) {
        return changed();
      }
      const double value = number ? (*number - means_[f]) / deviations_[f] : 0;
      if (!is_float(value)) {
        return data_error("column \"" + header_[features_[f]] + "\": \"" + cell.substr(0, 40) +
                          "\" is too far from what the training rows hold");
      }
      x.push_back(static_cast<float>(value));
    }
    return {};
  }

  static Error changed() { return data_error("changed while it was being read"); }
  [[nodiscard]] std::size_t file_of(Split split) const {
    return split == Split::kTest && !paths_[1].empty() ? 1 : 0;
  }
  [[nodiscard]] char separator(const std::string& path) const {
    const bool tabs = path.ends_with(".tsv") || path.ends_with(".tsv.gz");
    if (separator_ == "auto") {
      return tabs ? '\t' : ',';
    }
    return separator_ == "tab" ? '\t' : separator_[0];
  }

  /// Calls `take(row, cells)` for each row below the header, all of one width. The first time, the
  /// header decides what the columns are.
  template <typename Take>
  Status for_rows(std::size_t file, Take take) const {
    const Status status = walk(file, take);
    return status.ok() ? status : about_file(paths_[file], status.error(), kRemedy);
  }
  template <typename Take>
  Status walk(std::size_t file, Take& take) const {
    SHOAL_ASSIGN(const auto source, open_bytes(paths_[file]));
    CsvReader reader(*source, separator(paths_[file]));
    Row cells;
    SHOAL_ASSIGN(bool more, reader.next(cells));
    if (!more) {
      return data_error("is empty");
    }
    if (cells != header_) {
      return data_error("has another header than " + paths_[0]);
    }
    for (std::size_t row = 0;; ++row) {
      SHOAL_ASSIGN(more, reader.next(cells));
      if (!more) {
        return {};
      }
      if (cells.size() != header_.size()) {
        return data_error("line " + std::to_string(reader.line()) + " has " +
                          std::to_string(cells.size()) + " fields, but the header names " +
                          std::to_string(header_.size()));
      }
      const Status status = take(row, cells);
      if (!status.ok()) {
        return data_error("line " + std::to_string(reader.line()) + ": " + status.error().message);
      }
    }
  }

  /// for_rows of a file seen for the first time: every cell is judged.
  template <typename Take>
  Status in_file(std::size_t file, Take take) {
    if (header_.empty()) {
      const Status status = read_header();
      if (!status.ok()) {
        return about_file(paths_[0], status.error(), kRemedy);
      }
    }
    return for_rows(file, [&](std::size_t row, Row& cells) -> Status {
      SHOAL_TRY(judge(cells));
      return take(row, cells);
    });
  }

  Status read_header() {
    SHOAL_ASSIGN(const auto source, open_bytes(paths_[0]));
    CsvReader reader(*source, separator(paths_[0]));
    SHOAL_ASSIGN(const bool more, reader.next(header_));
    if (!more) {
      return data_error("is empty");
    }
    Row sorted = header_;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      return data_error("names the column \"" + *twice + "\" twice in its header");
    }
    SHOAL_ASSIGN(label_column_, column("data.label", label_));
    std::vector<bool> used(header_.size(), true);
    used[label_column_] = false;
    for (const std::string& name : drop_) {
      SHOAL_ASSIGN(const std::size_t index, column("data.drop", name));
      used[index] = false;
    }
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (used[i]) {
        features_.push_back(i);
      }
    }
    return features_.empty() ? Status(data_error("has no column beside the label")) : Status{};
  }

  Result<std::size_t> column(const char* key, const std::string& name) const {
    const auto at = std::find(header_.begin(), header_.end(), name);
    if (at != header_.end()) {
      return static_cast<std::size_t>(at - header_.begin());
    }
    const std::string close = nearest(name, header_);
    return data_error("has no column \"" + name + "\", which " + key + " names" +
                      (close.empty() ? "" : "; did you mean \"" + close + "\"?"));
  }

  Status judge(const Row& cells) const {
    if (is_missing(cells[label_column_])) {
      return data_error("column \"" + label_ + "\" has no value, and it is the label");
    }
    if (real_target_ && !is_target(cells[label_column_])) {
      return data_error("column \"" + label_ + "\": \"" + cells[label_column_].substr(0, 40) +
                        "\" is no number to predict; data.target = \"class\" takes any text");
    }
    for (const std::size_t i : features_) {
      if (parse_real(cells[i])) {
        continue;
      }
      if (!is_missing(cells[i])) {
        return data_error("column \"" + header_[i] + "\": \"" + cells[i].substr(0, 40) +
                          "\" is no number; name the column in data.drop to leave it out");
      }
      if (!impute_) {
        return data_error("column \"" + header_[i] +
                          "\" has no value; data.missing = \"mean\" puts the mean there");
      }
    }
    return {};
  }

  Status take_targets(const std::array<std::vector<std::string>, 2>& labels) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      part(split).name = paths_[file_of(split)];
    }
    if (real_target_) {
      take_reals(labels);
      return {};
    }
    const Status status = take_classes(labels);
    return status.ok() ? status : about_file(paths_[0], status.error(), kRemedy);
  }

  /// Classes are numbered in the order of their names; of numbers, by value.
  Status take_classes(const std::array<std::vector<std::string>, 2>& labels) {
    std::map<std::string, std::int32_t> ids;
    for (const auto& file : labels) {
      for (const std::string& label : file) {
        ids.emplace(label, 0);
        if (ids.size() > kClassesMax) {
          return data_error("has more than " + std::to_string(kClassesMax) +
                            " different values in column \"" + label_ +
                            "\"; data.target = \"real\" predicts a number");
        }
      }
    }
    std::vector<std::string> names;
    bool numbers = true;
    for (const auto& [name, id] : ids) {
      names.push_back(name);
      numbers = numbers && parse_real(name).has_value();
    }
    if (numbers) {
      std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
        return *parse_real(a) < *parse_real(b);
      });
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      ids[names[i]] = static_cast<std::int32_t>(i);
    }
    for (const Split split : {Split::kTrain, Split::kTest}) {
      for (const std::uint32_t row : rows_[static_cast<std::size_t>(split)]) {
        part(split).labels.push_back(ids[labels[file_of(split)][row]]);
      }
    }
    set_ports({static_cast<std::int64_t>(features_.size())}, {ops::Shape{}, true},
              static_cast<std::int64_t>(names.size()));
    return {};
  }

  void take_reals(const std::array<std::vector<std::string>, 2>& labels) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      for (const std::uint32_t row : rows_[static_cast<std::size_t>(split)]) {
        const auto value = parse_real(labels[file_of(split)][row]);
        part(split).targets.push_back(static_cast<float>(value.value_or(0)));
        part(split).labels.push_back(0);
      }
    }
    set_ports({static_cast<std::int64_t>(features_.size())}, {ops::Shape{1}, false}, 1);
  }

  /// Of the training rows alone: what is tested on must not be known.
  Status take_moments() {
    std::vector<Moments> moments(features_.size());
    const auto& rows = rows_[0];
    std::size_t next = 0;
    SHOAL_TRY(for_rows(0, [&](std::size_t row, const Row& cells) -> Status {
      if (next < rows.size() && rows[next] == row) {
        ++next;
        for (std::size_t f = 0; f < features_.size(); ++f) {
          if (const auto value = parse_real(cells[features_[f]])) {
            moments[f].add(*value);
          }
        }
      }
      return {};
    }));
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const std::string& name = header_[features_[f]];
      if (moments[f].count == 0) {
        return about_file(
            paths_[0],
            data_error("has no value to train on in column \"" + name + "\"; name it in data.drop"),
            kRemedy);
      }
      if (!std::isfinite(moments[f].squares)) {
        return about_file(paths_[0],
                          data_error("has numbers too large to average in column \"" + name + "\""),
                          kRemedy);
      }
      means_.push_back(moments[f].mean);
      deviations_.push_back(moments[f].deviation());
    }
    return {};
  }

  std::array<std::string, 2> paths_;  // train, test; the second empty: split the first
  std::string label_;
  std::vector<std::string> drop_;
  std::string separator_;
  bool impute_ = false;
  bool real_target_ = false;
  Row header_;
  std::size_t label_column_ = 0;
  std::vector<std::size_t> features_;  // columns
  SplitRows rows_;
  std::vector<double> means_;  // of features
  std::vector<double> deviations_;
};

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  auto dataset = std::make_unique<CsvDataset>();
  SHOAL_TRY(dataset->open(options, seed));
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace

DatasetEntry csv_dataset() {
  OptionSpec drop;
  drop.name = "drop";
  drop.type = OptionType::kStringList;
  drop.default_value = std::vector<std::string>{};
  drop.help = "columns to leave out";
  return {"csv",
          "numbers of a CSV or TSV file with a header, normalised; a class or a number to predict",
          {path_option("train_file", "train.csv", "file to train on, plain or .gz"),
           path_option("test_file", "", "file to test on; empty: a share of the first"),
           text_option("label", "label", "column to predict"),
           choice_option("target", {"class", "real"}, "what the label is"),
           choice_option("missing", {"refuse", "mean"}, "what a cell without a value becomes"),
           choice_option("separator", {"auto", ",", ";", "tab"},
                         "between fields; auto: tab for .tsv, else a comma"),
           std::move(drop),
           float_option("test_fraction", 0.2, 0, 0.9, "share of rows to test on, drawn by seed")},
          open};
}

}  // namespace shoal::node
