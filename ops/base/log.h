#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace shoal {

enum class Level { kDebug, kInfo, kWarning, kError };

/// Where sentences for people go. A value that is passed in, never a global; the default one is
/// silent. Cheap to copy. Threads: as safe as the sink it was made with.
class Log {
 public:
  using Sink = std::function<void(Level, std::string_view)>;

  Log() = default;
  explicit Log(Sink sink) : sink_(std::move(sink)) {}

  void write(Level level, std::string_view sentence) const {
    if (sink_) {
      sink_(level, sentence);
    }
  }
  void debug(std::string_view s) const { write(Level::kDebug, s); }
  void info(std::string_view s) const { write(Level::kInfo, s); }
  void warning(std::string_view s) const { write(Level::kWarning, s); }
  void error(std::string_view s) const { write(Level::kError, s); }

 private:
  Sink sink_;
};

}  // namespace shoal
