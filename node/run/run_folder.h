#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/identity.h"
#include "node/config.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Where a run leaves its files: config.toml, peer-<short id>/metrics.jsonl, summary.json,
/// model.safetensors, checkpoints/, and keys/ of the peers that were made here.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  /// A new one: run_dir/name, or name-2, name-3, ... when there are such already.
  /// Errors: kData when it can't be made.
  static Result<RunFolder> create(const Config& config);
  /// The one under run_dir that was changed last, whatever its name. Errors: kData.
  static Result<RunFolder> latest(const Config& config);
  /// What a person named: a run folder by its path, or by its name under run_dir; without a name,
  /// the latest. Errors: kData.
  static Result<RunFolder> find(const Config& config, const std::optional<std::string>& named);
  /// The newest of this name. Errors: kData when there is none.
  static Result<RunFolder> newest(const Config& config);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path config() const { return path_ / "config.toml"; }
  [[nodiscard]] std::filesystem::path summary() const { return path_ / "summary.json"; }
  [[nodiscard]] std::filesystem::path model() const { return path_ / "model.safetensors"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  [[nodiscard]] std::filesystem::path metrics(const comm::PeerId& peer) const {
    return path_ / ("peer-" + peer.short_id()) / "metrics.jsonl";
  }
  [[nodiscard]] std::filesystem::path keys(std::size_t index) const {
    return path_ / "keys" / std::to_string(index);
  }

  /// Identities of the peers made here, in rising order of their ids, made when missing.
  /// Members of a view stand in that order, so the i-th of a run does the same work each time.
  /// Errors: as Identity::load_or_create.
  [[nodiscard]] Result<std::vector<comm::Identity>> identities(std::size_t count) const;

 private:
  std::filesystem::path path_;
};

}  // namespace shoal::node
