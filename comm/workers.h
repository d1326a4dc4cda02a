#pragma once

#include <array>
#include <memory>

#include "comm/loop.h"

namespace shoal::comm {

/// A thread for each kind of offload, in IEEE arithmetic; each runs what it is given in order.
/// Threads: `post` from any. The destructor runs to its end what was posted (a checkpoint on its
/// way to the disk is finished), then joins.
class ThreadWorkers final : public Workers {
 public:
  ThreadWorkers();
  ~ThreadWorkers() override;
  void post(Offload kind, std::function<void()> fn, std::function<void()> done) override;

 private:
  class Worker;
  std::array<std::unique_ptr<Worker>, kOffloadKinds> workers_;
};

}  // namespace shoal::comm
