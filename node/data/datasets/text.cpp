#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>

#include "node/data/byte_source.h"
#include "node/data/held.h"
#include "node/data/registry.h"
#include "node/data/specs.h"
#include "node/data/utf8.h"
#include "ops/base/hash.h"

namespace shoal::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 30U;
constexpr std::uint32_t kBytes = 256;
constexpr std::uint32_t kVocabularyMax = 65535;  // a token takes two bytes; the last is unknown
constexpr const char* kRemedy =
    "; expected a text file or a folder of them: set data.path and, to take some of a folder, "
    "data.suffix";

struct Document {
  std::string path;
  std::string name;  ///< within the folder
};

/// Tokens [begin, end) of a document, cut into windows.
struct Stretch {
  std::size_t document = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t first = 0;  ///< number of its first window
  std::uint32_t windows = 0;
};

/// Windows of `context` tokens, each with the token behind it, that cover n tokens; the last is
/// moved back to end where they end.
std::size_t window_count(std::size_t n, std::size_t context) {
  return n <= context ? 0 : (n - 2) / context + 1;
}

bool is_test(const std::string& name, double fraction, std::uint64_t seed) {
  const Hash256 hash = Hasher().add_u64(seed).add(name).finish();
  std::uint64_t word = 0;
  std::memcpy(&word, hash.bytes.data(), sizeof word);
  return static_cast<double>(word >> 11U) * 0x1.0p-53 < fraction;
}

/// Files below a folder in the order of their names, or the one file. Errors: kData.
Result<std::vector<Document>> documents_in(const std::string& path, const std::string& suffix) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return std::vector{Document{path, fs::path(path).filename().string()}};
  }
  std::vector<Document> out;
  auto entry = fs::recursive_directory_iterator(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().lexically_relative(path).generic_string();
    if (entry->is_regular_file(ignored) && name.ends_with(suffix)) {
      out.push_back({entry->path().string(), name});
    }
  }
  if (error) {
    return data_error(path + " can't be listed: " + error.message() + kRemedy);
  }
  if (out.empty()) {
    return data_error(path + " holds no file" + (suffix.empty() ? "" : " named *" + suffix) +
                      kRemedy);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

class TextDataset final : public Dataset {
 public:
  Status open(const Options& options, std::uint64_t seed) {
    path_ = options.get_string("path");
    bytes_ = options.get_string("tokens") == "bytes";
    context_ = static_cast<std::size_t>(options.get_int("context"));
    const double fraction = options.get_float("test_fraction");
    SHOAL_ASSIGN(documents_, documents_in(path_, options.get_string("suffix")));
    std::vector<bool> seen(bytes_ ? 0 : kCodePoints, false);
    for (std::size_t d = 0; d < documents_.size(); ++d) {
      SHOAL_ASSIGN(const auto symbols, read_symbols(d));
      std::size_t cut = symbols.size();  // behind it: test
      if (documents_.size() == 1) {
        cut -= static_cast<std::size_t>(fraction * static_cast<double>(symbols.size()) + 0.5);
      } else if (is_test(documents_[d].name, fraction, seed)) {
        cut = 0;
      }
      for (std::size_t i = 0; !bytes_ && i < cut; ++i) {
        seen[symbols[i]] = true;
      }
      SHOAL_TRY(add(Split::kTrain, {d, 0, cut, 0, 0}));
      SHOAL_TRY(add(Split::kTest, {d, cut, symbols.size(), 0, 0}));
    }
    SHOAL_TRY(take_vocabulary(seen));
    const ops::Shape window{static_cast<std::int64_t>(context_)};
    port_ = {window, true};
    return check_sizes();
  }

  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(part(split).labels.size());
  }
  const ops::Port& input() const override { return port_; }
  const ops::Port& target() const override { return port_; }
  std::int64_t classes() const override {
    return bytes_ ? std::int64_t{kBytes} : static_cast<std::int64_t>(vocabulary_.size()) + 1;
  }
  std::span<const std::int32_t> labels(Split split) const override { return part(split).labels; }
  std::span<const std::uint32_t> holders() const override { return holders_; }
  std::uint64_t held_bytes(std::uint64_t count) const override {
    return count * (context_ + 1) * sizeof(std::uint16_t);
  }

  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    SHOAL_ASSIGN(Held held, Held::make(indices, size(split), path_));
    const std::vector<std::uint16_t> ids = token_table();
    std::vector<std::uint16_t> tokens;
    tokens.reserve(held.count() * (context_ + 1));
    for (const Stretch& stretch : part(split).stretches) {
      bool any = false;
      for (std::uint32_t w = 0; w < stretch.windows; ++w) {
        any = any || held.has(stretch.first + w);
      }
      if (any) {
        SHOAL_TRY(read_windows(stretch, held, ids, tokens));
      }
    }
    parts_[static_cast<std::size_t>(split)].held = std::move(held);
    parts_[static_cast<std::size_t>(split)].tokens = std::move(tokens);
    return {};
  }

 protected:
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override {
    const Part& from = part(pick.split);
    SHOAL_TRY(from.held.check(pick.indices, path_));
    std::int32_t* in = x.as<std::int32_t>();
    std::int32_t* out = targets.as<std::int32_t>();
    for (const std::uint32_t index : pick.indices) {
      const std::uint16_t* window = &from.tokens[from.held.slot(index) * (context_ + 1)];
      in = std::copy_n(window, context_, in);
      out = std::copy_n(window + 1, context_, out);
    }
    return {};
  }

 private:
  struct Part {
    std::vector<Stretch> stretches;
    std::vector<std::int32_t> labels;  ///< 0 for each window
    Held held;
    std::vector<std::uint16_t> tokens;  ///< of held windows, packed
  };
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  /// Bytes or code points of a whole document. Errors: kData.
  Result<std::vector<std::uint32_t>> read_symbols(std::size_t document) const {
    const std::string& path = documents_[document].path;
    auto symbols = decode(path);
    if (!symbols.ok()) {
      return about_file(path, symbols.error(), kRemedy);
    }
    return symbols;
  }
  Result<std::vector<std::uint32_t>> decode(const std::string& path) const {
    SHOAL_ASSIGN(const auto source, open_bytes(path));
    SHOAL_ASSIGN(const std::string text, read_text(*source, kDocumentBytesMax));
    if (!bytes_) {
      auto symbols = decode_utf8(text);
      return symbols.ok()
                 ? std::move(symbols)
                 : data_error(symbols.error().message + "; data.tokens = \"bytes\" takes any file");
    }
    std::vector<std::uint32_t> symbols;
    symbols.reserve(text.size());
    for (const char c : text) {
      symbols.push_back(static_cast<unsigned char>(c));
    }
    return symbols;
  }

  Status add(Split split, Stretch stretch) {
    Part& part = parts_[static_cast<std::size_t>(split)];
    const std::size_t windows = window_count(stretch.end - stretch.begin, context_);
    if (windows == 0) {
      return {};
    }
    if (windows > std::numeric_limits<std::uint32_t>::max() - part.labels.size()) {
      return data_error(path_ + " holds more than 2^32 windows; raise data.context");
    }
    stretch.first = static_cast<std::uint32_t>(part.labels.size());
    stretch.windows = static_cast<std::uint32_t>(windows);
    if (split == Split::kTrain && documents_.size() > 1) {
      const auto holder = static_cast<std::uint32_t>(part.stretches.size());
      holders_.insert(holders_.end(), windows, holder);
    }
    part.labels.resize(part.labels.size() + windows, 0);
    part.stretches.push_back(stretch);
    return {};
  }

  Status take_vocabulary(const std::vector<bool>& seen) {
    for (std::uint32_t c = 0; c < seen.size(); ++c) {
      if (seen[c]) {
        vocabulary_.push_back(c);
      }
    }
    return vocabulary_.size() <= kVocabularyMax
               ? Status{}
               : data_error(path_ + " holds more than 65535 different characters" +
                            "; data.tokens = \"bytes\" has 256");
  }

  Status check_sizes() const {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      if (size(split) == 0) {
        return data_error(path_ + " leaves no document longer than data.context (" +
                          std::to_string(context_) + ") to " +
                          (split == Split::kTrain ? "train" : "test") + " on, of " +
                          std::to_string(documents_.size()) +
                          "; change data.context or data.test_fraction" + kRemedy);
      }
    }
    return {};
  }

  /// Token of each code point; one that the training text lacks is the last token.
  std::vector<std::uint16_t> token_table() const {
    std::vector<std::uint16_t> ids(bytes_ ? kBytes : kCodePoints,
                                   static_cast<std::uint16_t>(vocabulary_.size()));
    for (std::uint32_t id = 0; id < (bytes_ ? kBytes : vocabulary_.size()); ++id) {
      ids[bytes_ ? id : vocabulary_[id]] = static_cast<std::uint16_t>(id);
    }
    return ids;
  }

  Status read_windows(const Stretch& stretch, const Held& held,
                      const std::vector<std::uint16_t>& ids,
                      std::vector<std::uint16_t>& tokens) const {
    SHOAL_ASSIGN(const auto symbols, read_symbols(stretch.document));
    if (symbols.size() < stretch.end) {
      return data_error(documents_[stretch.document].path + " changed while it was being read");
    }
    for (std::uint32_t w = 0; w < stretch.windows; ++w) {
      if (held.has(stretch.first + w)) {
        const std::size_t at = std::min(stretch.begin + w * context_, stretch.end - context_ - 1);
        for (std::size_t i = 0; i <= context_; ++i) {
          tokens.push_back(ids[symbols[at + i]]);
        }
      }
    }
    return {};
  }

  std::string path_;
  bool bytes_ = false;
  std::size_t context_ = 0;
  std::vector<Document> documents_;
  std::array<Part, 2> parts_;
  std::vector<std::uint32_t> holders_;     // document of each training window
  std::vector<std::uint32_t> vocabulary_;  // code points, ascending
  ops::Port port_;
};

Result<std::unique_ptr<Dataset>> open(const Options& options, std::uint64_t seed) {
  auto dataset = std::make_unique<TextDataset>();
  SHOAL_TRY(dataset->open(options, seed));
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace

DatasetEntry text_dataset() {
  return {"text",
          "a file or a folder of texts in windows of tokens; the next token is predicted",
          {path_option("path", "corpus.txt", "text file, or folder of them, also .gz"),
           text_option("suffix", "", "how names of a folder's files end; empty: all files"),
           choice_option("tokens", {"characters", "bytes"}, "what a token is"),
           int_option("context", 64, 1, 65536, "tokens of a window"),
           float_option("test_fraction", 0.1, 0, 0.9,
                        "share to test on: of documents, drawn by seed, or the end of one file")},
          open};
}

}  // namespace shoal::node
