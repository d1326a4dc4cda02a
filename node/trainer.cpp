#include "node/trainer.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shoal::node {
namespace {

/// Copies the parts of the second array that peers hold alike, and leaves local ones.
void copy_shared_buffers(const ParamMap& map, std::span<const float> from, std::span<float> to) {
  for (const Buffer& b : map.buffers()) {
    if (b.policy != BufferPolicy::kKeepLocal) {
      const auto part =
          from.subspan(static_cast<std::size_t>(b.offset), static_cast<std::size_t>(b.elements));
      std::copy(part.begin(), part.end(), to.begin() + static_cast<std::ptrdiff_t>(b.offset));
    }
  }
}

}  // namespace

Trainer::Trainer(std::shared_ptr<ops::Backend> backend, std::unique_ptr<ops::Model> model,
                 std::shared_ptr<const Dataset> dataset, std::unique_ptr<ops::Optimizer> local,
                 std::size_t pass_samples)
    : backend_(std::move(backend)),
      model_(std::move(model)),
      dataset_(std::move(dataset)),
      loader_(std::make_unique<Loader>(dataset_)),
      local_(std::move(local)),
      pass_samples_(pass_samples) {}

void Trainer::load(std::uint64_t version, std::span<const float> parameters,
                   std::span<const float> buffers) {
  if (version == version_) {
    return;
  }
  version_ = version;
  model_->parameters().write_all(parameters);
  if (!buffers.empty()) {
    std::vector<float> own(buffers.size());
    model_->buffers().read_all(own);
    copy_shared_buffers(model_->map(), buffers, own);
    model_->buffers().write_all(own);
  }
}

void Trainer::read_parameters(std::span<float> out) const { model_->parameters().read_all(out); }

void Trainer::read_buffers(std::span<float> out) const { model_->buffers().read_all(out); }

void Trainer::prefetch_on(Loader::Post post, std::size_t small) {
  loader_ = std::make_unique<Loader>(dataset_, std::move(post), small);
}

Result<ops::BatchResult> Trainer::gradient(std::span<const std::uint32_t> samples,
                                           std::uint64_t step, std::span<float> out,
                                           Upcoming next) {
  ops::BatchResult total;
  const std::size_t predictions = samples.size() * dataset_->predictions();
  const double scale = 1.0 / static_cast<double>(std::max<std::size_t>(predictions, 1));
  for (std::size_t begin = 0; begin < samples.size(); begin += pass_samples_) {
    const std::size_t count = std::min(pass_samples_, samples.size() - begin);
    SHOAL_ASSIGN(const Loader::Batch batch,
                 loader_->take({Split::kTrain, samples.subspan(begin, count), step}));
    if (const auto rest = samples.subspan(begin + count); !rest.empty()) {
      announce({rest, step});
    } else {
      announce(next);
    }
    // By its first sample, not its place in the batch: members draw the same step's numbers from
    // one seed, and masks that were alike on all of them would not average out.
    const ops::PassInfo info{ops::Mode::kTrain, step, samples[begin]};
    const auto into = begin == 0 ? ops::Into::kReplace : ops::Into::kAdd;
    SHOAL_ASSIGN(const ops::BatchResult one,
                 model_->train_batch(info, batch.x, batch.targets, scale, into));
    total += one;
  }
  if (samples.empty()) {
    model_->gradients().zero();
  }
  if (!out.empty()) {
    model_->gradients().read_all(out);
  }
  if (model_->map().buffer_size() > 0) {
    version_ = kNone;  // the running statistics have moved on
  }
  SHOAL_TRY(model_->backend().finish());
  return total;
}

void Trainer::announce(Upcoming next) {
  if (!next.samples.empty()) {
    const std::size_t count = std::min(pass_samples_, next.samples.size());
    loader_->announce({Split::kTrain, next.samples.first(count), next.step});
  }
}

Result<ops::BatchResult> Trainer::local_step(std::span<const std::uint32_t> samples,
                                             std::uint64_t step, double lr, Upcoming next) {
  SHOAL_CHECK(local_ != nullptr, "a strategy with local steps has a local rule");
  SHOAL_ASSIGN(const ops::BatchResult result, gradient(samples, step, {}, next));
  version_ = kNone;
  local_->step(local_->scalars(lr, step), model_->parameters(), model_->gradients());
  return result;
}

Result<ops::BatchResult> Trainer::evaluate() {
  ops::BatchResult total;
  std::vector<std::uint32_t> samples(dataset_->size(Split::kTest));
  std::iota(samples.begin(), samples.end(), 0U);
  for (std::size_t begin = 0; begin < samples.size(); begin += pass_samples_) {
    const std::size_t count = std::min(pass_samples_, samples.size() - begin);
    const auto these = std::span(samples).subspan(begin, count);
    SHOAL_ASSIGN(const Loader::Batch batch, loader_->take({Split::kTest, these, 0}));
    const auto rest = std::span(samples).subspan(begin + count);
    if (!rest.empty()) {
      loader_->announce({Split::kTest, rest.first(std::min(pass_samples_, rest.size())), 0});
    }
    SHOAL_ASSIGN(const ops::BatchResult one, model_->evaluate_batch(batch.x, batch.targets));
    total += one;
  }
  return total;
}

void Trainer::save_local(ByteWriter& out) {
  out.put(static_cast<std::uint8_t>(local_ != nullptr));
  if (local_ != nullptr) {
    local_->save(out);
  }
}

Status Trainer::load_local(ByteReader& in) {
  std::uint8_t present = 0;
  if (!in.get(present) || (present != 0) != (local_ != nullptr)) {
    return data_error("the checkpoint's local optimizer belongs to another strategy");
  }
  return local_ == nullptr ? Status() : local_->load(in);
}

}  // namespace shoal::node
