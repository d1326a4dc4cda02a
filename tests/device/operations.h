#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/device/trial.h"

namespace shoal::ops::tests {

/// How near two backends of one real() are in an operation.
enum class Promise : std::uint8_t {
  kBits,    ///< equal to the bit everywhere: no order is free and nothing is fused
  kBodies,  ///< a kernel body: the host's and CUDA's are equal to the bit, the CPU adds in lanes
  kNear,    ///< products, whose sums have an order of their own on each device
};

/// One operation of a device, under the name that Backend gives it, with the cases it is tried on:
/// sizes of 1, odd ones, one sample, more than a block of threads.
struct Operation {
  std::string name;
  Promise promise;
  std::vector<std::function<void(Trial&)>> cases;
};

/// Every operation that a device must offer, by families. A test holds it to be the list of
/// ops/backend.h and ops/device/.
std::vector<Operation> device_operations();

/// The families, each in a file of its own.
std::vector<Operation> memory_operations();
std::vector<Operation> conv_operations();
std::vector<Operation> linear_operations();
std::vector<Operation> loss_operations();
std::vector<Operation> norm_operations();
std::vector<Operation> pointwise_operations();
std::vector<Operation> sequence_operations();
std::vector<Operation> update_operations();

/// Sizes of what is element by element: one, odd, around a block of 128 threads, many blocks.
inline constexpr std::int64_t kLengths[] = {1, 3, 127, 129, 70001};
/// Rows and columns alike.
struct MatrixSize {
  std::int64_t rows;
  std::int64_t cols;
};
inline constexpr MatrixSize kMatrices[] = {{1, 1}, {1, 17}, {5, 1}, {7, 13}, {131, 65}, {300, 129}};

}  // namespace shoal::ops::tests
