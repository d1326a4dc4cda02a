#include "node/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <utility>

#include "node/files.h"
#include "ops/safetensors.h"

namespace shoal::node {
namespace {

namespace fs = std::filesystem;
namespace st = ops::safetensors;

constexpr const char* kShared = "shared.safetensors";
constexpr std::size_t kKept = 2;

/// Where the checksum's digits stand: the first occurrence of them in the file.
std::size_t find_text(ByteSpan bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text);
}

Hash256 hash_around(ByteSpan file, std::size_t at, std::string_view placeholder) {
  Hasher hasher;
  hasher.add(file.first(at)).add(placeholder).add(file.subspan(at + placeholder.size()));
  return hasher.finish();
}

bool parse_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

/// Rounds that have a folder, newest first.
std::vector<std::uint64_t> rounds_in(const fs::path& folder) {
  std::vector<std::uint64_t> rounds;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::uint64_t round = 0;
    if (parse_number(entry.path().filename().string(), round)) {
      rounds.push_back(round);
    }
  }
  std::sort(rounds.begin(), rounds.end(), std::greater<>());
  return rounds;
}

Result<Bytes> read_sealed(const fs::path& path) {
  SHOAL_ASSIGN(Bytes bytes, read_file(path));
  if (Status status = check_seal(bytes.span()); !status.ok()) {
    return data_error(path.string() + " " + status.error().message);
  }
  return bytes;
}

bool is_own_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.rfind("peer-", 0) == 0 && path.extension() == ".safetensors";
}

Result<ResumePoint> point_of(ByteSpan shared, const fs::path& path) {
  SHOAL_ASSIGN(const st::File file, st::parse(shared));
  const auto text = [&file](const char* key) -> std::string {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  ResumePoint point;
  if (!parse_number(text("round"), point.round) || !parse_number(text("branch"), point.branch) ||
      !from_hex(text("parent"), point.parent.bytes)) {
    return data_error(path.string() + " does not say its round, branch and parent");
  }
  return point;
}

std::size_t whole_own_files(const fs::path& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_own_file(entry.path()) && read_sealed(entry.path()).ok()) {
      ++count;
    }
  }
  return count;
}

}  // namespace

std::string checksum_placeholder() { return std::string(64, '0'); }

Bytes seal(const Bytes& file) {
  const std::string placeholder = checksum_placeholder();
  const std::size_t at = find_text(file.span(), placeholder);
  SHOAL_CHECK(at != std::string_view::npos, "a file to be sealed holds the placeholder");
  const std::string digits = hash_around(file.span(), at, placeholder).hex();
  std::vector<std::byte> out(file.span().begin(), file.span().end());
  std::memcpy(out.data() + at, digits.data(), digits.size());
  return Bytes(std::move(out));
}

Status check_seal(ByteSpan file) {
  auto parsed = st::parse(file);
  if (!parsed.ok()) {
    return data_error("is damaged: " + parsed.error().message);
  }
  const auto it = parsed->metadata.find(kChecksumKey);
  const std::string placeholder = checksum_placeholder();
  if (it == parsed->metadata.end() || it->second.size() != placeholder.size()) {
    return data_error("has no checksum");
  }
  const std::size_t at = find_text(file, it->second);
  if (at == std::string_view::npos || hash_around(file, at, placeholder).hex() != it->second) {
    return data_error("is damaged: its checksum differs");
  }
  return {};
}

fs::path Checkpoints::own_path(std::uint64_t round) const {
  return folder_ / std::to_string(round) / ("peer-" + peer_ + ".safetensors");
}

Status Checkpoints::write(std::uint64_t round, const Bytes& shared, const Bytes& own) const {
  const fs::path here = folder_ / std::to_string(round);
  Status written = write_file(here / kShared, seal(shared).span());
  if (written.ok()) {
    written = write_file(own_path(round), seal(own).span());
  }
  if (!written.ok()) {
    std::error_code ignored;
    fs::remove(here, ignored);  // if it is empty, as on a full disk
    return written;
  }
  keep_last_two();
  return {};
}

void Checkpoints::keep_last_two() const {
  std::size_t kept = 0;
  for (const std::uint64_t round : rounds_in(folder_)) {
    std::error_code error;
    if (fs::exists(own_path(round), error) && ++kept <= kKept) {
      continue;
    }
    if (kept <= kKept) {
      continue;  // another peer's, newer than our last two
    }
    fs::remove(own_path(round), error);
    const fs::path folder = folder_ / std::to_string(round);
    const auto files = fs::directory_iterator(folder, error);
    const bool wanted = std::any_of(begin(files), end(files), [](const fs::directory_entry& f) {
      return is_own_file(f.path()) || is_temporary(f.path());
    });
    if (!wanted) {
      fs::remove_all(folder, error);  // the last one out
    }
  }
}

Result<Checkpoints::Loaded> Checkpoints::read(std::uint64_t round) const {
  const fs::path path = folder_ / std::to_string(round) / kShared;
  Loaded loaded;
  SHOAL_ASSIGN(loaded.shared, read_sealed(path));
  SHOAL_ASSIGN(loaded.point, point_of(loaded.shared.span(), path));
  if (auto own = read_sealed(own_path(round)); own.ok()) {
    loaded.own = std::move(*own);
  }
  return loaded;
}

std::vector<std::uint64_t> Checkpoints::held(std::vector<std::string>& skipped) const {
  std::vector<std::uint64_t> rounds;
  for (const std::uint64_t round : rounds_in(folder_)) {
    std::error_code error;
    if (!fs::exists(own_path(round), error)) {
      continue;
    }
    for (const fs::path& path : {folder_ / std::to_string(round) / kShared, own_path(round)}) {
      if (const auto file = read_sealed(path); !file.ok()) {
        skipped.push_back("round " + std::to_string(round) + ": " + file.error().message);
        error = std::make_error_code(std::errc::io_error);
      }
    }
    if (!error) {
      rounds.push_back(round);
    }
  }
  return rounds;
}

Result<ResumePoint> Checkpoints::newest(const fs::path& folder, std::size_t quorum,
                                        std::vector<std::string>& skipped) {
  for (const std::uint64_t round : rounds_in(folder)) {
    const fs::path here = folder / std::to_string(round);
    auto shared = read_sealed(here / kShared);
    if (!shared.ok()) {
      skipped.push_back("round " + std::to_string(round) + ": " + shared.error().message);
      continue;
    }
    const std::size_t whole = whole_own_files(here);
    if (whole < quorum) {
      skipped.push_back("round " + std::to_string(round) + ": whole for " + std::to_string(whole) +
                        " peers, " + std::to_string(quorum) + " are needed");
      continue;
    }
    return point_of(shared->span(), here / kShared);
  }
  return data_error("no whole checkpoint lies under " + folder.string() +
                    "; start the run without --resume");
}

void Checkpoints::prune(const fs::path& folder, std::uint64_t round) {
  std::error_code error;
  for (const std::uint64_t found : rounds_in(folder)) {
    const fs::path here = folder / std::to_string(found);
    if (found > round) {
      fs::remove_all(here, error);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(here, error)) {
      if (is_temporary(entry.path())) {
        fs::remove(entry.path(), error);
      }
    }
  }
}

}  // namespace shoal::node
