#include "tests/device/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace shoal::ops::tests {
namespace {

using Results = std::vector<std::vector<double>>;
constexpr double kNever = std::numeric_limits<double>::infinity();

void compare(const std::vector<double>& got, const std::vector<double>& want, Distance& distance) {
  if (got.size() != want.size()) {
    distance = {kNever, false};
    return;
  }
  if (!got.empty() && std::memcmp(got.data(), want.data(), got.size() * sizeof(double)) != 0) {
    distance.bits = false;
  }
  double largest = 0;
  double off = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(got[i] - want[i]);
    off = std::isnan(difference) ? kNever : std::max(off, difference);
    largest = std::max(largest, std::abs(want[i]));
  }
  // Where all are next to nothing, as what a normalisation leaves of a single value, 1 is the
  // scale.
  distance.largest = std::max(distance.largest, off / (largest < 1e-3 ? 1 : largest));
}

void compare(const Results& got, const Results& want, Distance& distance) {
  if (got.size() != want.size()) {
    distance = {kNever, false};
    return;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    compare(got[i], want[i], distance);
  }
}

Results run(Backend& backend, const Operation& operation, std::size_t index) {
  Trial trial(backend, 100 + index);
  operation.cases[index](trial);
  return trial.results();
}

void expect_near(const Distance& distance, const char* pair, Verdict& verdict) {
  if (!(distance.largest <= kNearBound)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", distance.largest);
    verdict.faults.push_back(std::string(pair) + " differ by " + text);
  }
}

void expect_bits(const Distance& distance, const char* pair, Verdict& verdict) {
  if (!distance.bits) {
    verdict.faults.push_back(std::string(pair) + " are not equal to the bit");
  }
}

}  // namespace

Verdict judge(const Operation& operation, const Backends& backends) {
  Verdict v;
  for (std::size_t i = 0; i < operation.cases.size(); ++i) {
    const Results exact = run(backends.exact, operation, i);
    const Results bodies = run(backends.bodies, operation, i);
    const Results cpu = run(backends.cpu, operation, i);
    compare(bodies, exact, v.bodies_exact);
    compare(cpu, exact, v.cpu_exact);
    compare(cpu, bodies, v.cpu_bodies);
    if (backends.device != nullptr) {
      const Results device = run(*backends.device, operation, i);
      compare(device, exact, v.device_exact);
      compare(device, bodies, v.device_bodies);
      compare(device, cpu, v.device_cpu);
    }
  }
  expect_near(v.bodies_exact, "bodies and float64", v);
  expect_near(v.cpu_exact, "CPU and float64", v);
  expect_near(v.device_exact, "device and float64", v);
  expect_near(v.device_cpu, "device and CPU", v);
  if (operation.promise == Promise::kBits) {
    expect_bits(v.cpu_bodies, "CPU and bodies", v);
    expect_bits(v.device_cpu, "device and CPU", v);
  }
  if (operation.promise != Promise::kNear) {
    expect_bits(v.device_bodies, "device and bodies", v);
  }
  return v;
}

}  // namespace shoal::ops::tests
