#pragma once

#include <optional>

#include "comm/wire/message.h"

namespace shoal::comm {

/// What we hold to be true of the run, against which hellos are judged.
struct RunFacts {
  std::uint64_t run = 0;
  Hash256 model_hash;
  Hash256 keys_hash;
  /// We came with an invitation's key and know the run's id only: any model, any keys.
  bool observer = false;
};

/// Why a hello does not fit, told apart in words; nothing when it fits. An observer's hello needs
/// the right version and run only.
[[nodiscard]] std::optional<Refuse> judge_hello(const RunFacts& facts, const Header& header,
                                                const Hello& hello);

/// The word to count a refusal by ("refused-model", ...).
[[nodiscard]] const char* refusal_word(RefuseReason reason) noexcept;

}  // namespace shoal::comm
