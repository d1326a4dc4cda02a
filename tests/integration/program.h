#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/run/child.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {

/// A folder of its own with a configuration in it: three peers, synthetic data, a small net. Gone
/// afterwards, with every process that was started in it.
class Workshop {
 public:
  Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  /// Starts `shoal words...` here; what it says goes to the file `said`; its own key lies in
  /// the folder `home`.
  [[nodiscard]] Child start(const std::vector<std::string>& words, const std::string& said,
                            const std::string& home = "home") const;
  /// The same to its end: the exit code. Fails the test after two minutes.
  [[nodiscard]] int run(const std::vector<std::string>& words, const std::string& said,
                        const std::string& home = "home") const;
  [[nodiscard]] std::string text(const std::string& file) const;
  [[nodiscard]] nlohmann::json summary(const std::string& run) const;
  /// "up", the configuration, and these settings.
  [[nodiscard]] std::vector<std::string> up(const std::vector<std::string>& settings) const;
  /// Folders of checkpoints of a run.
  [[nodiscard]] std::size_t checkpoints(const std::string& run) const;
  /// Temporary files anywhere below.
  [[nodiscard]] std::size_t temporaries() const;

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  shoal::tests::TempFolder folder_;
};

/// Waits until `done`; fails the test after a minute.
void wait_for(const std::function<bool()>& done);
/// Exit code; fails the test after two minutes.
int end_of(Child& child);
/// Direct children of a process.
std::vector<pid_t> children_of(pid_t parent);
bool lives(pid_t pid);

}  // namespace shoal::node::tests
