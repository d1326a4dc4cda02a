#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/base/bytes.h"
#include "ops/base/hash.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Metadata that a safetensors file must hold to be sealed.
inline constexpr const char* kChecksumKey = "checksum";
/// What stands there before sealing.
std::string checksum_placeholder();
/// Fills in the checksum: BLAKE2b-256 of the file with the placeholder in its place, so that it
/// covers every byte and the file stays plain safetensors. Requires: the placeholder (checked).
Bytes seal(const Bytes& file);
/// Errors: kData for a file that is cut short, was never sealed, or differs from its checksum.
[[nodiscard]] Status check_seal(ByteSpan file);

/// A round that training can go on from.
struct ResumePoint {
  std::uint64_t round = 0;
  std::uint64_t branch = 0;  ///< that it was committed on
  Hash256 parent;            ///< the round's chained hash
};

/// Checkpoints of one peer: `folder`/<round>/shared.safetensors, the same from whoever wrote it,
/// and peer-<id>.safetensors, its own. Each is written to a temporary file, fsynced and renamed,
/// and sealed. A peer keeps its last two. Threads: io, after construction.
class Checkpoints {
 public:
  Checkpoints(std::filesystem::path folder, std::string peer)
      : folder_(std::move(folder)), peer_(std::move(peer)) {}

  /// Both files hold the placeholder. Errors: kData, saying why the disk refused.
  [[nodiscard]] Status write(std::uint64_t round, const Bytes& shared, const Bytes& own) const;

  struct Loaded {
    Bytes shared;
    std::optional<Bytes> own;  ///< nothing when this peer wrote none, or a damaged one
    ResumePoint point;
  };
  /// Errors: kData when the shared file is missing or damaged.
  [[nodiscard]] Result<Loaded> read(std::uint64_t round) const;

  /// Rounds of which both files are whole, newest first; a sentence in `skipped` for those that
  /// this peer wrote and that are not.
  [[nodiscard]] std::vector<std::uint64_t> held(std::vector<std::string>& skipped) const;

  /// The newest round whose shared file is whole and whose own files are whole for at least
  /// `quorum` peers. `skipped` gets a sentence for each newer round that is not.
  /// Errors: kData when there is none.
  [[nodiscard]] static Result<ResumePoint> newest(const std::filesystem::path& folder,
                                                  std::size_t quorum,
                                                  std::vector<std::string>& skipped);
  /// Removes rounds above `round` (a resumed run writes them anew) and temporary files.
  static void prune(const std::filesystem::path& folder, std::uint64_t round);

 private:
  void keep_last_two() const;
  [[nodiscard]] std::filesystem::path own_path(std::uint64_t round) const;

  std::filesystem::path folder_;
  std::string peer_;
};

}  // namespace shoal::node
