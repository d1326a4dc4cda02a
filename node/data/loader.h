#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "node/data/dataset.h"
#include "ops/base/result.h"
#include "ops/tensor.h"

namespace shoal::node {

/// Host memory of one batch. Used again for the next of its size, it allocates nothing.
class HostBatch {
 public:
  /// Makes room; what was there is undefined then.
  void resize(const Dataset& dataset, std::size_t samples);
  [[nodiscard]] ops::TensorView x() { return x_.view; }
  [[nodiscard]] ops::TensorView targets() { return targets_.view; }

 private:
  struct Numbers {
    std::vector<float> reals;
    std::vector<std::int32_t> indices;
    ops::TensorView view;
    void resize(const ops::Port& port, std::size_t samples);
  };
  Numbers x_;
  Numbers targets_;
};

/// Fills the next batch on another thread while a step computes on this one, where the batch is
/// large enough that waking the other thread costs less. Two batches at most: the one in use and
/// the one announced. What is announced is a hint: `take` gives what it is asked
/// for in any case, so values do not depend on threads or on good guesses.
/// Threads: one thread (the compute thread); the fill runs where `Post` puts it.
class Loader {
 public:
  /// Runs a function on another thread. Requires: what is posted runs in the end.
  using Post = std::function<void(std::function<void()>)>;

  struct Batch {
    ops::ConstTensorView x;
    ops::ConstTensorView targets;
  };

  /// A batch of fewer bytes is filled when it is taken: in about 20 us for 64 small images, which
  /// then lie in the caches of who computes; waking a thread takes 10 us and the way between the
  /// caches of two cores as much again.
  static constexpr std::size_t kSmall = 256 * 1024;

  /// Without `post` every batch is filled when it is taken, and with it those of fewer bytes than
  /// `small`.
  explicit Loader(std::shared_ptr<const Dataset> dataset, Post post = {},
                  std::size_t small = kSmall);
  /// Waits for a fill under way; nothing runs afterwards.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Says which batch will be taken next; replaces what was announced and not begun. No effect
  /// while another announced batch is being filled.
  void announce(const Pick& pick);
  /// The batch; waits only where its own fill has begun. Views are valid until the next `take`.
  /// Errors: those of Dataset::fill, wherever it ran.
  [[nodiscard]] Result<Batch> take(const Pick& pick);
  /// Whether announcing leads to anything.
  [[nodiscard]] bool ahead_of_time() const { return static_cast<bool>(post_); }
  /// Batches taken that the other thread had filled or was filling.
  [[nodiscard]] std::uint64_t ready_batches() const { return ready_batches_; }

 private:
  enum State : std::uint32_t { kIdle, kQueued, kFilling, kReady };

  [[nodiscard]] bool is_small(const Pick& pick) const;
  [[nodiscard]] bool announced(const Pick& pick) const;
  [[nodiscard]] Status fill(HostBatch& batch, const Pick& pick) const;
  void run();

  std::shared_ptr<const Dataset> dataset_;
  Post post_;
  std::size_t small_;
  std::array<HostBatch, 2> batches_;
  std::size_t front_ = 0;  // in use; the other is for what is announced
  std::uint64_t ready_batches_ = 0;

  // Written here while state_ is neither kQueued nor kFilling, read by the fill.
  Split split_ = Split::kTrain;
  std::uint64_t step_ = 0;
  std::vector<std::uint32_t> indices_;
  Status status_;  // of the fill

  std::atomic<std::uint32_t> state_ = kIdle;
  std::atomic<std::uint32_t> waiting_ = 0;  // 1: a posted function has not begun
  std::atomic<std::uint32_t> posted_ = 0;   // functions that have not ended
};

}  // namespace shoal::node
