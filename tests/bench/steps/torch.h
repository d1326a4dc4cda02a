#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shoal::bench {

/// The child that runs steps_torch.py. It is asked a line and answers a line.
class Torch {
 public:
  Torch();
  ~Torch();
  Torch(const Torch&) = delete;
  Torch& operator=(const Torch&) = delete;

  /// Empty: it did not start.
  [[nodiscard]] const std::string& version() const { return version_; }

  /// Seconds of each of `steps` steps of a row; none where it failed.
  [[nodiscard]] std::vector<double> run(const std::string& name, std::size_t steps);

 private:
  nlohmann::json read();

  pid_t child_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string version_;
};

}  // namespace shoal::bench
