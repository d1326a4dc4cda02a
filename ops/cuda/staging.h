// C++17, for table.cu and, with a made-up device, for a test on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal::ops::cuda {

/// Carries bytes between pageable host memory and a device whose compute queue is at work, through
/// pinned buffers and a queue for copies alone. On the way in a chunk goes host -> pinned -> a
/// buffer on the device while earlier work still runs, and from there to its place in the order of
/// the compute queue: so what that work reads is never overwritten early, and nobody waits. On the
/// way out the copy queue waits for the compute queue, and two chunks are under way at a time.
/// A Driver has types Queue and Event and, each giving 0 or a status:
///   copy(queue, to, from, bytes)   queued, in order with all of that queue
///   record(event, queue)           the event is what that queue has been given so far
///   wait(queue, event)             what the queue is given next comes after the event
///   reach(event)                   the host waits; at once when it was never recorded
template <typename Driver>
class Staging {
 public:
  using Queue = typename Driver::Queue;
  using Event = typename Driver::Event;
  static constexpr size_t kSlots = 2;

  /// A pinned buffer, its like on the device, and when each is free again.
  struct Slot {
    void* host = nullptr;
    void* device = nullptr;
    Event crossed{};  ///< of the copy queue: the last copy that used the pinned buffer
    Event taken{};    ///< of the compute queue: the device's buffer has been emptied
  };

  Driver driver{};
  Queue compute{};
  Queue copies{};
  Event computed{};
  Slot slots[kSlots];
  size_t slot_bytes = 0;

  /// The host memory may be used again on return.
  int32_t put(void* to, const void* from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += slot_bytes) {
      const size_t count = chunk(at, bytes);
      Slot& slot = take();
      if (const auto status = driver.reach(slot.crossed)) {
        return status;
      }
      std::memcpy(slot.host, static_cast<const char*>(from) + at, count);
      if (const auto status = cross_in(slot, static_cast<char*>(to) + at, count)) {
        return status;
      }
    }
    return 0;
  }

  /// Waits for all that was queued before, and for the bytes.
  int32_t get(void* to, const void* from, size_t bytes) {
    int32_t status = driver.record(computed, compute);
    status = status != 0 ? status : driver.wait(copies, computed);
    Slot* before = nullptr;
    size_t begun = 0;
    for (size_t at = 0; status == 0 && at < bytes; at += slot_bytes) {
      Slot& slot = take();
      status = cross_out(slot, static_cast<const char*>(from) + at, chunk(at, bytes));
      if (status == 0 && before != nullptr) {
        status = finish_out(*before, static_cast<char*>(to) + begun, chunk(begun, bytes));
      }
      before = &slot;
      begun = at;
    }
    return status == 0 && before != nullptr
               ? finish_out(*before, static_cast<char*>(to) + begun, chunk(begun, bytes))
               : status;
  }

 private:
  size_t chunk(size_t at, size_t bytes) const {
    return bytes - at < slot_bytes ? bytes - at : slot_bytes;
  }
  Slot& take() {
    Slot& slot = slots[next_];
    next_ = (next_ + 1) % kSlots;
    return slot;
  }

  int32_t cross_in(Slot& slot, void* to, size_t count) {
    int32_t status = driver.wait(copies, slot.taken);
    status = status != 0 ? status : driver.copy(copies, slot.device, slot.host, count);
    status = status != 0 ? status : driver.record(slot.crossed, copies);
    status = status != 0 ? status : driver.wait(compute, slot.crossed);
    status = status != 0 ? status : driver.copy(compute, to, slot.device, count);
    return status != 0 ? status : driver.record(slot.taken, compute);
  }

  int32_t cross_out(Slot& slot, const void* from, size_t count) {
    const int32_t status = driver.copy(copies, slot.host, from, count);
    return status != 0 ? status : driver.record(slot.crossed, copies);
  }

  int32_t finish_out(Slot& slot, void* to, size_t count) {
    const int32_t status = driver.reach(slot.crossed);
    if (status == 0) {
      std::memcpy(to, slot.host, count);
    }
    return status;
  }

  size_t next_ = 0;
};

}  // namespace shoal::ops::cuda
