#include "ops/loss.h"

#include <algorithm>
#include <vector>

#include "ops/find_entry.h"

namespace shoal::ops {
namespace {

class SoftmaxCrossEntropyLoss final : public Loss {
 public:
  [[nodiscard]] Status check(const Shape& output) const override {
    if (output.rank() == 0) {
      return config_error("softmax-cross-entropy needs scores of classes in the last dimension");
    }
    return {};
  }

  [[nodiscard]] Result<BatchResult> evaluate(Backend& backend, ConstTensorView output,
                                             ConstTensorView targets, double scale,
                                             TensorView doutput) override {
    const std::size_t rows = output.rows();
    SHOAL_TRY(judge(targets, rows, output.cols()));
    const Shape shape{static_cast<std::int64_t>(rows)};
    SHOAL_ASSIGN(const TensorView labels, labels_.get(backend, DType::kI32, shape));
    SHOAL_ASSIGN(const TensorView loss, loss_.get(backend, backend.real(), shape));
    SHOAL_ASSIGN(const TensorView correct, correct_.get(backend, DType::kI32, shape));
    backend.upload(targets.reshape(shape), labels);
    backend.softmax_cross_entropy(output, labels, scale, doutput, loss, correct);
    return sum(backend, loss, correct);
  }

 private:
  static Status judge(const ConstTensorView& targets, std::size_t rows, std::size_t classes) {
    if (targets.dtype != DType::kI32 || targets.elements() != rows) {
      return data_error("there are " + std::to_string(targets.elements()) + " targets for " +
                        std::to_string(rows) + " predictions");
    }
    for (const auto target : targets.span<std::int32_t>()) {
      if (target < 0 || static_cast<std::size_t>(target) >= classes) {
        return data_error("a target is class " + std::to_string(target) + ", but the model has " +
                          std::to_string(classes) + " classes (from 0)");
      }
    }
    return {};
  }

  /// In double and in order, so that the figure does not depend on the device.
  Result<BatchResult> sum(Backend& backend, const TensorView& loss, const TensorView& correct) {
    const std::size_t rows = loss.elements();
    BatchResult result;
    result.samples = rows;
    if (backend.real() == DType::kF64) {
      host_double_.resize(rows);
      backend.download(loss, host_view(host_double_.data(), loss.shape));
      add(host_double_, result);
    } else {
      host_float_.resize(rows);
      backend.download(loss, host_view(host_float_.data(), loss.shape));
      add(host_float_, result);
    }
    host_correct_.resize(rows);
    backend.download(correct, host_view(host_correct_.data(), correct.shape));
    for (const auto c : host_correct_) {
      result.correct += c != 0 ? 1 : 0;
    }
    SHOAL_TRY(backend.finish());
    return result;
  }

  template <typename T>
  static void add(const std::vector<T>& losses, BatchResult& result) {
    for (const T loss : losses) {
      result.loss_sum += static_cast<double>(loss);
    }
  }

  Scratch labels_;
  Scratch loss_;
  Scratch correct_;
  std::vector<float> host_float_;
  std::vector<double> host_double_;
  std::vector<std::int32_t> host_correct_;
};

}  // namespace

BatchResult& BatchResult::operator+=(const BatchResult& other) {
  loss_sum += other.loss_sum;
  correct += other.correct;
  samples += other.samples;
  return *this;
}

double BatchResult::mean_loss() const {
  return samples == 0 ? 0 : loss_sum / static_cast<double>(samples);
}

double BatchResult::accuracy() const {
  return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples);
}

const std::vector<LossEntry>& loss_registry() {
  static const std::vector<LossEntry> entries = {
      {"softmax-cross-entropy", "classes; softmax and cross-entropy in one pass",
       []() -> std::unique_ptr<Loss> { return std::make_unique<SoftmaxCrossEntropyLoss>(); }},
  };
  return entries;
}

Result<std::unique_ptr<Loss>> make_loss(std::string_view name) {
  SHOAL_ASSIGN(const LossEntry* entry, find_entry(loss_registry(), &LossEntry::name, "loss", name));
  return entry->make();
}

}  // namespace shoal::ops
