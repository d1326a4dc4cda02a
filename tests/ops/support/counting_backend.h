#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "ops/reference/host_backend.h"

namespace shoal::ops::tests {

/// The kernel bodies in float32, with a count of the bytes that are allocated.
class CountingBackend final : public HostBackend<float> {
 public:
  [[nodiscard]] std::size_t held() const { return held_; }
  [[nodiscard]] std::size_t peak() const { return peak_; }

  [[nodiscard]] Result<Storage> allocate(std::size_t bytes) override {
    SHOAL_ASSIGN(Storage memory, HostBackend<float>::allocate(bytes));
    auto counted = std::make_unique<Counted>(Counted{std::move(memory), this});
    held_ += bytes;
    peak_ = std::max(peak_, held_);
    void* data = counted->memory.data();
    return Storage(data, bytes, {&CountingBackend::release, counted.release()});
  }

 private:
  struct Counted {
    Storage memory;
    CountingBackend* backend;
  };
  static void release(void* /*data*/, void* owner) {
    const std::unique_ptr<Counted> counted(static_cast<Counted*>(owner));
    counted->backend->held_ -= counted->memory.bytes();
  }

  std::size_t held_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace shoal::ops::tests
