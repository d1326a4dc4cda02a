#include "node/doctor.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "comm/address.h"
#include "comm/identity.h"
#include "comm/zmq/socket.h"
#include "node/plan_check.h"
#include "node/units.h"
#include "ops/backend.h"

namespace shoal::node {
namespace {

namespace fs = std::filesystem;
using Grade = Finding::Grade;

constexpr std::uintmax_t kDiskBytesMin = 256ULL << 20U;

Finding good(std::string what, std::string sentence) {
  return {std::move(what), Grade::kGood, std::move(sentence), {}, {}};
}

Finding note(std::string what, std::string sentence, std::string remedy) {
  return {std::move(what), Grade::kNote, std::move(sentence), std::move(remedy), {}};
}

Finding problem(std::string what, Code code, std::string sentence, std::string remedy = {}) {
  return {std::move(what), Grade::kProblem, std::move(sentence), std::move(remedy), code};
}

/// Cores that this process may run on.
std::int64_t cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// MemAvailable of /proc/meminfo, bytes; 0 unknown.
std::uint64_t memory_available() {
  std::ifstream in("/proc/meminfo");
  std::string word;
  while (in >> word) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) {
      return kib * 1024;
    }
  }
  return 0;
}

/// The model on the data, and whether it fits in memory.
std::vector<Finding> examine_plan(const Config& config) {
  const auto plan = check_plan(config);
  if (!plan.ok()) {
    const bool data = plan.error().code == Code::kData;
    return {problem(data ? "data set" : "plan", plan.error().code, plan.error().message)};
  }
  std::vector<Finding> findings = {good("plan", plan->sentence)};
  const std::uint64_t limit = config.get_bytes("limits.memory");
  const std::uint64_t available = memory_available();
  const std::string needs =
      "a peer needs about " + bytes_text(static_cast<double>(plan->memory.main_bytes()));
  if (limit > 0 && plan->memory.main_bytes() > limit) {
    findings.push_back(
        problem("memory", Code::kDevice,
                needs + ", but limits.memory is " + bytes_text(static_cast<double>(limit)),
                "raise limits.memory, or set train.micro_batch to \"auto\""));
  } else if (available > 0 && plan->memory.main_bytes() > available) {
    findings.push_back(
        problem("memory", Code::kDevice,
                needs + ", but only " + bytes_text(static_cast<double>(available)) + " are free",
                "close other programs, or set limits.memory and train.micro_batch = \"auto\""));
  } else {
    findings.push_back(
        good("memory", needs + "; " + bytes_text(static_cast<double>(available)) + " are free"));
  }
  return findings;
}

Finding examine_cpu(const Config& config) {
  const std::int64_t threads = config.get_int("device.blas_threads");
  const auto backend = ops::make_cpu_backend(static_cast<int>(threads));
  const std::string sentence = std::to_string(cores()) + " cores; " + backend->description();
  if (threads > cores()) {
    return note("processor", sentence,
                "set device.blas_threads to " + std::to_string(cores()) + " or less");
  }
  return good("processor", sentence);
}

Finding examine_device(const Config& config) {
  const std::string& name = config.get_string("device.name");
  auto chosen = ops::choose_backend(name, 1, {0, config.get_bool("device.tf32")});
  if (!chosen.ok()) {
    return problem("device", Code::kDevice, chosen.error().message,
                   "set device.name to \"auto\" or \"cpu\"");
  }
  const std::string why = chosen->reason.empty() ? "" : " (" + chosen->reason + ")";
  return good("device", chosen->backend->description() + why);
}

Finding examine_encryption() {
  if (comm::libzmq_has_sodium()) {
    return good("encryption", "libzmq encrypts with libsodium");
  }
  return problem("encryption", Code::kNetwork,
                 "libzmq has no CURVE of libsodium, so links would be slow or open",
                 "install the distribution's libzmq5");
}

Finding examine_port(const Config& config) {
  const auto port = static_cast<std::uint16_t>(config.get_int("swarm.port"));
  const std::string name = "port " + std::to_string(port);
  if (port == 0) {
    return good("port", "any free port will be taken");
  }
  const std::string holder = comm::port_holder(port);
  if (holder.empty()) {
    return good("port", name + " is free");
  }
  return problem("port", Code::kNetwork, name + " is held by " + holder,
                 "stop it, or choose another: --set swarm.port=0 takes any free one");
}

Finding examine_key(const Result<fs::path>& home) {
  if (!home.ok()) {
    return problem("key", home.error().code, home.error().message, "set SHOAL_HOME to a folder");
  }
  std::error_code ignored;
  if (!fs::exists(*home / "identity.key", ignored)) {
    return good("key", "none yet; the first run makes one in " + home->string());
  }
  const auto identity = comm::Identity::load_or_create(*home);
  if (!identity.ok()) {
    return problem("key", identity.error().code, identity.error().message);
  }
  return good("key", "this peer is " + identity->id().short_id() + " (" + home->string() + ")");
}

/// Whether run folders can be made, and whether there is room for checkpoints.
Finding examine_disk(const Config& config) {
  std::error_code error;
  const fs::path wanted = fs::absolute(config.get_string("run_dir"), error);
  fs::path there = wanted;
  while (!fs::exists(there, error) && there.has_parent_path() && there != there.parent_path()) {
    there = there.parent_path();
  }
  if (!fs::is_directory(there, error) || ::access(there.c_str(), W_OK | X_OK) != 0) {
    return problem("disk", Code::kData, "run folders can't be made in " + wanted.string(),
                   "choose another folder: --set run_dir=...");
  }
  const auto space = fs::space(there, error);
  if (!error && space.available < kDiskBytesMin) {
    return problem("disk", Code::kData,
                   "only " + bytes_text(static_cast<double>(space.available)) + " are free in " +
                       there.string(),
                   "make room, or choose another folder: --set run_dir=...");
  }
  return good("disk", bytes_text(static_cast<double>(space.available)) + " are free for " +
                          wanted.string());
}

Finding examine_clock() {
  const BootClock clock;
  const TimePoint first = clock.now();
  if (first.since_start > Duration::zero() && clock.now() >= first) {
    return good("clock", "the clock of the system's start (CLOCK_BOOTTIME) runs");
  }
  return problem("clock", Code::kInternal, "CLOCK_BOOTTIME does not run",
                 "use Linux 2.6.39 or later");
}

}  // namespace

std::vector<Finding> examine(const Config& config, const Result<fs::path>& home) {
  std::vector<Finding> findings = examine_plan(config);
  findings.push_back(examine_cpu(config));
  findings.push_back(examine_device(config));
  findings.push_back(examine_encryption());
  findings.push_back(examine_port(config));
  findings.push_back(examine_key(home));
  findings.push_back(examine_disk(config));
  findings.push_back(examine_clock());
  return findings;
}

int exit_code_of(const std::vector<Finding>& findings) {
  int worst = 0;
  for (const auto& finding : findings) {
    if (finding.grade == Grade::kProblem) {
      worst = std::max(worst, exit_code(finding.code));
    }
  }
  return worst;
}

}  // namespace shoal::node
