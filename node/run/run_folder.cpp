#include "node/run/run_folder.h"

#include <algorithm>
#include <utility>

namespace shoal::node {
namespace {

namespace fs = std::filesystem;

constexpr int kRunsMax = 100'000;  // of one name
constexpr int kTriesMax = 1'000;   // of runs that begin at once

fs::path numbered(const Config& config, int number) {
  const std::string& name = config.get_string("name");
  return fs::path(config.get_string("run_dir")) /
         (number == 1 ? name : name + "-" + std::to_string(number));
}

/// How many there are, without a gap.
int count_runs(const Config& config) {
  int count = 0;
  std::error_code error;
  while (count < kRunsMax && fs::exists(numbered(config, count + 1), error)) {
    ++count;
  }
  return count;
}

}  // namespace

Result<RunFolder> RunFolder::create(const Config& config) {
  std::error_code error;
  if (const fs::path base = config.get_string("run_dir"); !base.empty()) {
    fs::create_directories(base, error);
  }
  fs::path path;
  for (int i = 0; i < kTriesMax && !error; ++i) {
    path = numbered(config, count_runs(config) + 1);
    if (fs::create_directory(path, error)) {
      return RunFolder(path);
    }  // else another run took the number meanwhile
  }
  return data_error("can't make the run folder " + path.string() + ": " +
                    (error ? error.message() : "there are too many of this name") +
                    "; run_dir moves it");
}

Result<RunFolder> RunFolder::newest(const Config& config) {
  const int count = count_runs(config);
  if (count == 0) {
    return data_error("there is no run \"" + config.get_string("name") + "\" under " +
                      config.get_string("run_dir") + " to go on with; start it without --resume");
  }
  return RunFolder(numbered(config, count));
}

Result<RunFolder> RunFolder::latest(const Config& config) {
  const fs::path base = config.get_string("run_dir");
  std::optional<fs::directory_entry> last;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    if (entry.is_directory(error) &&
        (!last.has_value() || entry.last_write_time(error) > last->last_write_time(error))) {
      last = entry;
    }
  }
  if (!last.has_value()) {
    return data_error("there is no run under " + base.string() + "; name its folder");
  }
  return RunFolder(last->path());
}

Result<RunFolder> RunFolder::find(const Config& config, const std::optional<std::string>& named) {
  if (!named.has_value()) {
    return latest(config);
  }
  std::error_code error;
  for (const fs::path& path : {fs::path(*named), fs::path(config.get_string("run_dir")) / *named}) {
    if (fs::exists(path / "config.toml", error)) {
      return RunFolder(path);
    }
  }
  return data_error("\"" + *named + "\" is no run folder, and there is none of this name under " +
                    config.get_string("run_dir") + "; --run-dir says where runs lie");
}

Result<std::vector<comm::Identity>> RunFolder::identities(std::size_t count) const {
  std::vector<comm::Identity> made;
  std::error_code error;
  if (!fs::exists(keys(0), error)) {
    std::vector<std::pair<comm::PeerId, fs::path>> fresh;
    for (std::size_t i = 0; i < count; ++i) {
      const fs::path folder = path_ / "keys" / ("new-" + std::to_string(i));
      SHOAL_ASSIGN(const comm::Identity identity, comm::Identity::load_or_create(folder));
      fresh.emplace_back(identity.id(), folder);
    }
    std::sort(fresh.begin(), fresh.end());
    for (std::size_t i = 0; i < count; ++i) {
      fs::rename(fresh[i].second, keys(i), error);
      if (error) {
        return data_error("can't name " + keys(i).string() + ": " + error.message());
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!fs::exists(keys(i), error)) {
      return data_error("the run was made with fewer peers here: " + keys(i).string() +
                        " is missing");
    }
    SHOAL_ASSIGN(comm::Identity identity, comm::Identity::load_or_create(keys(i)));
    made.push_back(std::move(identity));
  }
  return made;
}

}  // namespace shoal::node
