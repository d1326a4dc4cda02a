#include "node/run/pause.h"

#include <ctime>
#include <utility>

#include "node/cli/arguments.h"
#include "node/files.h"

namespace shoal::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "paused";

Result<std::string> pause(const Cli& cli, const PauseArguments& arguments) {
  SHOAL_ASSIGN(const Config config, cli.load(std::nullopt));
  SHOAL_ASSIGN(const RunFolder folder, RunFolder::find(config, arguments.run));
  const bool before = asked_to_pause(folder);
  SHOAL_TRY(ask_to_pause(folder, arguments.pause));
  const std::string path = folder.path().string();
  if (!arguments.pause) {
    return path + (before ? ": the peers of this machine go on" : " was not paused");
  }
  return path + (before ? " is paused already" : ": the peers of this machine stop computing") +
         "; shoal resume " + path;
}

}  // namespace

std::optional<std::string> reason_to_pause(const Hours& hours, const std::string& hours_text,
                                           int hour, bool asked) {
  if (asked) {
    return "as `shoal pause` said";
  }
  if (!hours.contains(hour)) {
    return "until limits.hours = " + hours_text;
  }
  return std::nullopt;
}

int local_hour() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return local.tm_hour;
}

Status ask_to_pause(const RunFolder& folder, bool pause) {
  const fs::path file = folder.path() / kFile;
  if (pause) {
    return write_file(file, ByteSpan());
  }
  std::error_code error;
  fs::remove(file, error);
  return error ? data_error("can't remove " + file.string() + ": " + error.message()) : Status();
}

bool asked_to_pause(const RunFolder& folder) {
  std::error_code error;
  return fs::exists(folder.path() / kFile, error);
}

PauseWatch::PauseWatch(const Config& config, RunFolder folder, Log log)
    : hours_text_(config.get_string("limits.hours")),
      hours_(parse_hours(hours_text_).value()),
      folder_(std::move(folder)),
      log_(std::move(log)) {}

bool PauseWatch::paused() {
  auto reason = reason_to_pause(hours_, hours_text_, local_hour(), asked_to_pause(folder_));
  if (reason.has_value() != reason_.has_value()) {
    log_.info(reason.has_value() ? "pausing, " + *reason : "going on after a pause");
  }
  reason_ = std::move(reason);
  return reason_.has_value();
}

int run_pause(const Cli& cli, const PauseArguments& arguments) {
  const auto said = pause(cli, arguments);
  if (!said.ok()) {
    return cli.fail(said.error());
  }
  cli.log().info(*said);
  return 0;
}

}  // namespace shoal::node
