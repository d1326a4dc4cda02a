#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::comm {

/// Whether a text of a peer may be shown on a terminal and written to a log: UTF-8 of at most
/// `bytes_max` bytes without control characters; line feeds only where `lines` says so.
[[nodiscard]] bool is_clean_text(std::string_view text, std::size_t bytes_max, bool lines = false);

/// Makes a clean text of any: cut to `bytes_max` between characters, '?' for what may not stand.
[[nodiscard]] std::string clean_text(std::string_view text, std::size_t bytes_max);

}  // namespace shoal::comm
