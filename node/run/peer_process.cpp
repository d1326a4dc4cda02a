#include "node/run/peer_process.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "comm/limits.h"
#include "comm/workers.h"
#include "node/pace.h"
#include "node/plan_check.h"
#include "node/run/pause.h"
#include "node/timed_workers.h"
#include "node/units.h"
#include "ops/fp_env.h"

namespace shoal::node {
namespace {

constexpr Duration kPollEvery = std::chrono::milliseconds(100);

/// Main memory of this machine, bytes; 0 unknown.
std::uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes)
             : 0;
}

/// Units: bytes/s; 0 no bound, and a bound is never rounded to none.
std::uint64_t to_rate(const Config& config, const char* key) {
  const double rate = config.get_rate(key);
  return rate > 0 ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rate)) : 0;
}

/// Bytes/s that a peer gives: the lesser of its limits, 0 when there are none.
std::uint64_t rate_of(const Config& config) {
  const std::uint64_t up = to_rate(config, "limits.rate_up");
  const std::uint64_t down = to_rate(config, "limits.rate_down");
  return up > 0 && down > 0 ? std::min(up, down) : std::max(up, down);
}

HostOptions host_options(const comm::ZmqEndpoint& endpoint, PeerTask& task,
                         ops::DeviceKind device) {
  const Config& config = task.config;
  comm::MembershipOptions membership{task.identity, peer_name(config),         endpoint.announced(),
                                     task.run,      config.get_string("name"), config.run_keys(),
                                     task.invites};
  HostOptions options{std::move(membership),
                      config.run_keys_hash(),
                      static_cast<std::size_t>(config.get_int("swarm.peers")),
                      task.founder,
                      std::move(task.roster),
                      rate_of(config),
                      [] { return comm::random_u64() | 1U; },
                      task.held,
                      task.gather_within,
                      peer_options(config, device)};
  options.alone_within = task.alone_within;
  options.peer.name = peer_name(config);
  options.peer.metrics_file = task.folder.metrics(task.identity.id());
  options.peer.model_file = task.folder.model();
  options.peer.checkpoint_folder = task.folder.checkpoints();
  options.peer.resume_round = task.resume_round;
  options.peer.on_status = std::move(task.on_status);
  options.peer.log = task.log;
  return options;
}

comm::Task<void> run_host(comm::Loop& loop, PeerHost& host, PeerSummary& out) {
  out = co_await host.run();
  loop.stop();
}

comm::Task<void> poll_host(comm::Loop& loop, PeerHost& host,
                           const std::function<void(PeerHost&)>& poll, PauseWatch watch) {
  for (;;) {
    poll(host);
    host.set_paused(watch.paused());
    co_await loop.sleep_for(kPollEvery);
  }
}

}  // namespace

std::string peer_name(const Config& config) {
  if (const std::string& name = config.get_string("swarm.name"); !name.empty()) {
    return name;
  }
  char host[comm::limits::kNameBytesMax] = {};
  return ::gethostname(host, sizeof host - 1) == 0 && host[0] != 0 ? host : "peer";
}

Result<std::unique_ptr<comm::ZmqEndpoint>> open_endpoint(const Config& config,
                                                         const comm::Identity& identity) {
  return comm::ZmqEndpoint::open({.identity = identity,
                                  .listen = config.get_string("swarm.listen"),
                                  .port = static_cast<std::uint16_t>(config.get_int("swarm.port")),
                                  .announce = config.get_strings("swarm.announce"),
                                  .rate_up = to_rate(config, "limits.rate_up"),
                                  .rate_down = to_rate(config, "limits.rate_down")});
}

Result<std::vector<std::uint64_t>> held_rounds(const RunFolder& folder, const comm::PeerId& self,
                                               const Log& log) {
  std::vector<std::string> skipped;
  auto held = Checkpoints(folder.checkpoints(), self.short_id()).held(skipped);
  for (const std::string& sentence : skipped) {
    log.warning("checkpoint of " + sentence);
  }
  if (held.empty()) {
    return data_error("no whole checkpoint of this peer lies under " +
                      folder.checkpoints().string() + "; start it without --resume");
  }
  return held;
}

Status apply_core_limit(const Config& config) {
  const double cores = config.get_float("limits.cores");
  const std::size_t available = available_cpus();
  const CorePlan plan = plan_cores(cores, 1, available);
  return plan.cpus < available ? keep_to_cpus(plan.cpus) : Status();
}

Status check_memory(const Config& config) {
  const std::uint64_t limit = config.get_bytes("limits.memory");
  const std::uint64_t machine = machine_memory();
  SHOAL_ASSIGN(const PlanCheck plan, check_plan(config));
  const std::uint64_t needed = plan.memory.main_bytes();
  const auto refused = [&](const std::string& bound) {
    return device_error("this run takes about " + bytes_text(static_cast<double>(needed)) +
                        " of memory, and " + bound +
                        "set train.micro_batch or train.recompute to \"auto\", or take a smaller "
                        "model (shoal plan CONFIG --memory says what takes how much)");
  };
  if (limit > 0 && needed > limit) {
    return refused("limits.memory is " + bytes_text(static_cast<double>(limit)) + "; raise it, ");
  }
  if (machine > 0 && needed > machine) {
    return refused("this machine has " + bytes_text(static_cast<double>(machine)) + "; ");
  }
  return {};
}

PeerSummary run_peer_process(comm::ZmqEndpoint& endpoint, PeerParts parts, PeerTask task) {
  ops::set_strict_fp_env();
  const BootClock clock;
  PeerSummary summary;
  const auto poll = task.poll;
  const ops::DeviceKind device = parts.trainer->model().backend().device();
  PauseWatch watch(task.config, task.folder, task.log);
  {
    // Destroyed in this order: the host and its tasks, the loop, the threads that serve it.
    TimedWorkers timed(std::make_unique<comm::ThreadWorkers>(), clock);
    parts.trainer->prefetch_on([&timed](std::function<void()> fill) {
      timed.post(comm::Offload::kIo, std::move(fill), [] {});
    });
    comm::Loop loop(endpoint, &timed);
    HostOptions options = host_options(endpoint, task, device);
    options.peer.worker.codec_busy = [&timed] { return timed.busy(comm::Offload::kCodec); };
    PeerHost host(loop, std::move(parts), std::move(options));
    loop.spawn(run_host(loop, host, summary));
    const auto poller = loop.spawn(poll_host(loop, host, poll, std::move(watch)));
    loop.run();
    loop.cancel(poller);
  }
  endpoint.close(comm::limits::kLinger);
  return summary;
}

}  // namespace shoal::node
