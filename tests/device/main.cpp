// Holds a CUDA device to the CPU: every operation of the list, then training steps of whole nets.
// Exit: 0 when all conforms, 1 when something does not, 2 for usage or when the device fails, 77
// without a CUDA device (the host's side has been checked then).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "ops/fp_env.h"
#include "ops/reference/host_backend.h"
#include "tests/bench/steps/training.h"
#include "tests/device/judge.h"

namespace shoal::ops::tests {
namespace {

constexpr int kNoDevice = 77;
using bench::need;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_distance(const Distance& distance, bool known) {
  if (!known) {
    std::printf(" %10s", "-");
  } else if (distance.bits) {
    std::printf(" %10s", "bits");
  } else {
    std::printf(" %10.1e", distance.largest);
  }
}

/// Returns how many operations do not conform.
std::size_t check_operations(const Backends& backends) {
  std::printf("\nLargest deviation of each operation (\"bits\": equal to the bit)\n%-26s %5s", "",
              "cases");
  for (const char* pair : {"CUDA-CPU", "CUDA-body", "CUDA-f64", "CPU-body", "CPU-f64"}) {
    std::printf(" %10s", pair);
  }
  std::printf("\n");
  std::size_t faults = 0;
  for (const auto& operation : device_operations()) {
    const Verdict v = judge(operation, backends);
    std::printf("%-26s %5zu", operation.name.c_str(), operation.cases.size());
    const bool known = backends.device != nullptr;
    print_distance(v.device_cpu, known);
    print_distance(v.device_bodies, known);
    print_distance(v.device_exact, known);
    print_distance(v.cpu_bodies, true);
    print_distance(v.cpu_exact, true);
    for (const auto& fault : v.faults) {
      std::printf("  FAULT: %s", fault.c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
    faults += v.faults.empty() ? 0 : 1;
  }
  return faults;
}

/// What TF32 costs in a product, beside the bound that all else is held to.
std::size_t check_tf32(Backend& exact) {
  CudaOptions options;
  options.tf32 = true;
  const auto fast = need(make_cuda_backend(options));
  HostBackend<float> bodies;
  for (const auto& operation : device_operations()) {
    if (operation.name == "gemm") {
      const Verdict v = judge(operation, {exact, bodies, bodies, fast.get()});
      std::printf("gemm with TF32, when it is asked for: %.1e from float64\n",
                  v.device_exact.largest);
      return v.device_exact.largest < 1e-2 ? 0 : 1;
    }
  }
  return 1;
}

void time_copies(Backend& device) {
  constexpr std::int64_t kReals = std::int64_t{16} << 20;
  Trial trial(device, 1);
  const auto view = trial.room({kReals});
  std::vector<float> host(static_cast<std::size_t>(kReals));
  const auto rate = [&](const auto& copy) {
    copy();
    const double begin = seconds_now();
    copy();
    return static_cast<double>(view.bytes()) / 1e9 / (seconds_now() - begin);
  };
  const double up = rate([&] {
    device.upload(host_view(std::as_const(host).data(), view.shape), view);
    device.finish().value();
  });
  const double down = rate([&] { device.download(view, host_view(host.data(), view.shape)); });
  std::printf("\nPageable memory, 64 MiB: %.1f GB/s to the device, %.1f GB/s back\n", up, down);
}

/// What the first steps of a net lost, and how long a later one takes.
struct Steps {
  std::vector<double> losses;
  double milliseconds;
};

Steps train(const bench::Row& net, Backend& backend) {
  constexpr std::size_t kCompared = 10;
  constexpr double kSecondsMost = 4;
  const auto step = net.make(backend);
  Steps steps{};
  for (std::size_t i = 0; i < kCompared; ++i) {
    steps.losses.push_back(step());
  }
  std::vector<double> times;
  for (const double begin = seconds_now();
       times.size() < 3 || (times.size() < 200 && seconds_now() - begin < kSecondsMost);) {
    const double start = seconds_now();
    step();
    need(backend.finish());
    times.push_back(1e3 * (seconds_now() - start));
  }
  steps.milliseconds = median(times);
  return steps;
}

/// Both start from equal bits, so the first losses differ by a few sums in another order, 1e-5; ten
/// steps with a rate of 0.01 keep that difference small.
bool losses_agree(const Steps& a, const Steps& b) {
  const auto off = [&](std::size_t i) { return std::abs(a.losses[i] / b.losses[i] - 1); };
  return off(0) < 1e-5 && off(a.losses.size() - 1) < 1e-3;
}

/// Returns how many nets do not conform.
std::size_t check_steps(Backend& device, Backend& cpu) {
  std::printf(
      "\nTraining step, medians of wall time; the CPU has one thread\n%-42s %10s %10s %7s %s\n", "",
      "CUDA ms", "CPU ms", "ratio", "  loss after 10 steps");
  std::size_t faults = 0;
  for (const auto& net : bench::rows()) {
    const Steps there = train(net, device);
    const Steps here = train(net, cpu);
    const bool agree = losses_agree(there, here);
    std::printf("%-42s %10.3f %10.3f %7.1f   %.6f %.6f%s\n", net.text.c_str(), there.milliseconds,
                here.milliseconds, here.milliseconds / there.milliseconds, there.losses.back(),
                here.losses.back(), agree ? "" : "  FAULT: losses differ");
    std::fflush(stdout);
    faults += agree ? 0 : 1;
  }
  return faults;
}

int check() {
  set_strict_fp_env();
  const auto exact = make_reference_backend();
  HostBackend<float> bodies;
  const auto cpu = make_cpu_backend(1);
  auto made = make_cuda_backend();
  Backend* device = made.ok() ? made->get() : nullptr;
  std::printf("%s\n%s\n", made.ok() ? device->description().c_str() : made.error().message.c_str(),
              cpu->description().c_str());
  const double begin = seconds_now();
  std::size_t faults = check_operations({*exact, bodies, *cpu, device});
  if (device != nullptr) {
    faults += check_tf32(*exact);
    time_copies(*device);
    faults += check_steps(*device, *cpu);
  }
  std::printf("\n%.0f s. %s\n", seconds_now() - begin,
              faults == 0 ? "All conforms." : "NOT all conforms: see FAULT above.");
  return faults > 0 ? 1 : (device == nullptr ? kNoDevice : 0);
}

}  // namespace
}  // namespace shoal::ops::tests

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    std::fprintf(stderr, "usage: device_check (without arguments)\n");
    return 2;
  }
  try {
    return shoal::ops::tests::check();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_check: %s\n", error.what());
    return 2;
  }
}
