#pragma once

#include <filesystem>
#include <string_view>

#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Puts a file in place whole or not at all: temporary file beside it, fsync, rename, fsync of the
/// folder. Makes the folder when it is missing. Errors: kData, saying what the system refused.
[[nodiscard]] Status write_file(const std::filesystem::path& path, ByteSpan bytes);
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view text);
/// Errors: kData when it can't be opened or read.
[[nodiscard]] Result<Bytes> read_file(const std::filesystem::path& path);
/// Whether `path` is one of write_file's temporary files (left by a process that was killed).
[[nodiscard]] bool is_temporary(const std::filesystem::path& path);

}  // namespace shoal::node
