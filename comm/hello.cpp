#include "comm/hello.h"

#include <array>

namespace shoal::comm {
namespace {

std::string first_digits(const Hash256& hash) { return hash.hex().substr(0, 8); }

}  // namespace

std::optional<Refuse> judge_hello(const RunFacts& facts, const Header& header, const Hello& hello) {
  if (hello.version != kProtocolVersion) {
    return Refuse{RefuseReason::kVersion, "other version: you speak protocol " +
                                              std::to_string(hello.version) + ", we speak " +
                                              std::to_string(kProtocolVersion) +
                                              "; use the same release of shoal"};
  }
  if (header.run != facts.run) {
    return Refuse{RefuseReason::kRun,
                  "other run: this peer is not part of yours; check the invitation or run id"};
  }
  if (hello.observer || facts.observer) {
    return std::nullopt;
  }
  if (hello.model_hash != facts.model_hash) {
    return Refuse{RefuseReason::kModel,
                  "other model: yours hashes to " + first_digits(hello.model_hash) + ", ours to " +
                      first_digits(facts.model_hash) + "; compare the [model] tables"};
  }
  if (hello.keys_hash != facts.keys_hash) {
    return Refuse{RefuseReason::kKeys,
                  "other run keys: yours hash to " + first_digits(hello.keys_hash) + ", ours to " +
                      first_digits(facts.keys_hash) + "; compare `shoal config show`"};
  }
  return std::nullopt;
}

const char* refusal_word(RefuseReason reason) noexcept {
  static constexpr std::array kWords = {"refused-version", "refused-run",         "refused-model",
                                        "refused-keys",    "refused-not-allowed", "refused-full",
                                        "refused-banned"};
  return kWords[static_cast<std::size_t>(reason)];
}

}  // namespace shoal::comm
