#include "node/data/loader.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace shoal::node {

void HostBatch::Numbers::resize(const ops::Port& port, std::size_t samples) {
  const ops::Shape shape = port.shape.with_batch(samples);
  if (port.index) {
    indices.resize(shape.elements());
    view = ops::host_view(indices.data(), shape);
  } else {
    reals.resize(shape.elements());
    view = ops::host_view(reals.data(), shape);
  }
}

void HostBatch::resize(const Dataset& dataset, std::size_t samples) {
  x_.resize(dataset.input(), samples);
  targets_.resize(dataset.target(), samples);
}

Loader::Loader(std::shared_ptr<const Dataset> dataset, Post post, std::size_t small)
    : dataset_(std::move(dataset)), post_(std::move(post)), small_(small) {}

Loader::~Loader() {
  std::uint32_t queued = kQueued;
  state_.compare_exchange_strong(queued, kIdle);  // not begun: it finds nothing to do
  for (std::uint32_t left = posted_.load(); left != 0; left = posted_.load()) {
    posted_.wait(left);
  }
}

Status Loader::fill(HostBatch& batch, const Pick& pick) const {
  batch.resize(*dataset_, pick.indices.size());
  return dataset_->fill(pick, batch.x(), batch.targets());
}

/// On the other thread: fills what is queued by now, if anything still is.
void Loader::run() {
  waiting_.exchange(0);
  std::uint32_t queued = kQueued;
  if (state_.compare_exchange_strong(queued, kFilling)) {
    try {
      status_ = fill(batches_[1 - front_], {split_, indices_, step_});
    } catch (const std::exception& e) {
      status_ = internal_error(std::string("a batch could not be filled: ") + e.what());
    }
    state_.store(kReady);
    state_.notify_one();
  }
  posted_.fetch_sub(1);
  posted_.notify_one();
}

void Loader::announce(const Pick& pick) {
  if (!post_ || is_small(pick)) {
    return;
  }
  std::uint32_t state = kQueued;
  if (!state_.compare_exchange_strong(state, kIdle) && state == kFilling) {
    return;
  }
  split_ = pick.split;
  step_ = pick.step;
  indices_.assign(pick.indices.begin(), pick.indices.end());
  state_.store(kQueued);
  if (waiting_.exchange(1) == 0) {  // else a function that was posted before will find it
    posted_.fetch_add(1);
    post_([this] { run(); });
  }
}

bool Loader::is_small(const Pick& pick) const {
  const auto numbers = [&](const ops::Port& port) {
    return port.shape.with_batch(pick.indices.size()).elements();
  };
  constexpr std::size_t kNumber = 4;  // bytes, real or index
  return (numbers(dataset_->input()) + numbers(dataset_->target())) * kNumber < small_;
}

bool Loader::announced(const Pick& pick) const {
  return post_ && pick.split == split_ && pick.step == step_ &&
         std::equal(pick.indices.begin(), pick.indices.end(), indices_.begin(), indices_.end());
}

Result<Loader::Batch> Loader::take(const Pick& pick) {
  bool filled = false;
  if (announced(pick)) {
    // Not begun: the other thread is busy with something else, and a step waits for nobody.
    std::uint32_t state = kQueued;
    if (!state_.compare_exchange_strong(state, kIdle) && state != kIdle) {
      state_.wait(kFilling);
      state_.store(kIdle);
      front_ = 1 - front_;
      SHOAL_TRY(std::exchange(status_, Status{}));
      filled = true;
      ++ready_batches_;
    }
  }
  HostBatch& batch = batches_[front_];
  if (!filled) {
    SHOAL_TRY(fill(batch, pick));
  }
  return Batch{batch.x(), batch.targets()};
}

}  // namespace shoal::node
