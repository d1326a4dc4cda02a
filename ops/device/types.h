#pragma once

#include <cstdint>

#include "ops/kernels/activation_kind.h"

namespace shoal::ops {

enum class Transpose : std::uint8_t { kNo, kYes };
/// Whether a result replaces what was there or is added to it.
enum class Into : std::uint8_t { kReplace, kAdd };

/// What every family of operations is. Families are inherited virtually: Backend names the family,
/// a class of the device implements it, and the device's backend inherits both.
class DeviceOps {
 public:
  DeviceOps() = default;
  DeviceOps(const DeviceOps&) = delete;
  DeviceOps& operator=(const DeviceOps&) = delete;
  virtual ~DeviceOps() = default;
};

}  // namespace shoal::ops
