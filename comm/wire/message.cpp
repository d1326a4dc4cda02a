#include "comm/wire/message.h"

#include <array>

namespace shoal::comm {

const char* kind_name(const Body& body) noexcept {
  static constexpr std::array kNames = {
      "hello",   "refuse",       "heartbeat", "bye",     "enrol",         "roster",
      "join",    "contribution", "answer",    "control", "hold",          "prepare",
      "promise", "refused",      "stale",     "fetch",   "state-request", "state-reply"};
  static_assert(kNames.size() == std::variant_size_v<Body>);
  return kNames[body.index()];
}

std::string drop_reason(const Error& error) {
  return error.message.substr(0, error.message.find(':'));
}

}  // namespace shoal::comm
