#include "node/trainer.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shoal::node {
namespace {

/// Samples of one forward and backward pass: bounds activations whatever the batch. Fixed, since
/// how a sum is cut decides its last bits.
constexpr std::size_t kPassSamples = 512;

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
                 std::shared_ptr<const Dataset> dataset, std::unique_ptr<ops::Optimizer> local)
    : backend_(std::move(backend)),
      model_(std::move(model)),
      dataset_(std::move(dataset)),
      local_(std::move(local)) {}

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

Result<Trainer::Pass> Trainer::fill(Split split, std::span<const std::uint32_t> samples) {
  x_.resize(samples.size() * dataset_->features());
  labels_.resize(samples.size());
  SHOAL_TRY(dataset_->fill(split, samples, x_, labels_));
  const float* x = x_.data();
  const std::int32_t* labels = labels_.data();
  return Pass{ops::host_view(x, dataset_->input().shape.with_batch(samples.size())),
              ops::host_view(labels, ops::Shape{static_cast<std::int64_t>(samples.size())})};
}

Result<ops::BatchResult> Trainer::gradient(std::span<const std::uint32_t> samples,
                                           std::uint64_t step, std::span<float> out) {
  ops::BatchResult total;
  const double scale = 1.0 / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
  std::uint32_t pass_index = 0;
  for (std::size_t begin = 0; begin < samples.size(); begin += kPassSamples) {
    const std::size_t count = std::min(kPassSamples, samples.size() - begin);
    SHOAL_ASSIGN(const Pass pass, fill(Split::kTrain, samples.subspan(begin, count)));
    const ops::PassInfo info{ops::Mode::kTrain, step, pass_index};
    const auto into = begin == 0 ? ops::Into::kReplace : ops::Into::kAdd;
    SHOAL_ASSIGN(const ops::BatchResult one,
                 model_->train_batch(info, pass.x, pass.labels, scale, into));
    total += one;
    ++pass_index;
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

Result<ops::BatchResult> Trainer::local_step(std::span<const std::uint32_t> samples,
                                             std::uint64_t step, double lr) {
  SHOAL_CHECK(local_ != nullptr, "a strategy with local steps has a local rule");
  SHOAL_ASSIGN(const ops::BatchResult result, gradient(samples, step, {}));
  version_ = kNone;
  local_->step(local_->scalars(lr, step), model_->parameters(), model_->gradients());
  return result;
}

Result<ops::BatchResult> Trainer::evaluate() {
  ops::BatchResult total;
  std::vector<std::uint32_t> samples(dataset_->size(Split::kTest));
  std::iota(samples.begin(), samples.end(), 0U);
  for (std::size_t begin = 0; begin < samples.size(); begin += kPassSamples) {
    const std::size_t count = std::min(kPassSamples, samples.size() - begin);
    SHOAL_ASSIGN(const Pass pass, fill(Split::kTest, std::span(samples).subspan(begin, count)));
    SHOAL_ASSIGN(const ops::BatchResult one, model_->evaluate_batch(pass.x, pass.labels));
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
