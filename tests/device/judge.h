#pragma once

#include <string>
#include <vector>

#include "tests/device/operations.h"

namespace shoal::ops::tests {

/// What float32 may be off from float64, and one order of a sum from another, in the cases of
/// device_operations(), as a part of the largest number of an array: sums have at most 2,000
/// terms, whose roundings of 6e-8 add up as the root of their number while they are independent, to
/// 3e-6 of a term, and terms reach a few times the largest sum; a normalisation and the way back
/// through it take several such sums in turn. TF32, which keeps ten bits, is off by 5e-4.
inline constexpr double kNearBound = 1e-4;

/// Those that are compared. `bodies` is the kernel bodies as host code in float32, `device` null
/// where there is none.
struct Backends {
  Backend& exact;
  Backend& bodies;
  Backend& cpu;
  Backend* device;
};

/// How far two backends are apart in an operation, over all its cases.
struct Distance {
  double largest = 0;  ///< difference, as a part of the largest number of its array
  bool bits = true;    ///< whether all are equal to the bit
};

/// One line of the list.
struct Verdict {
  Distance bodies_exact;
  Distance cpu_exact;
  Distance cpu_bodies;
  Distance device_exact;
  Distance device_bodies;
  Distance device_cpu;
  std::vector<std::string> faults;  ///< in words; empty: it conforms
};

/// Runs every case of an operation on all. Errors: std::runtime_error, as Trial.
Verdict judge(const Operation& operation, const Backends& backends);

}  // namespace shoal::ops::tests
