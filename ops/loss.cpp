#include "ops/loss.h"

#include <algorithm>
#include <vector>

#include "ops/find_entry.h"

namespace shoal::ops {
namespace {

/// What losses share: memory on the device, and sums on the host in double and in order, so that
/// the figure does not depend on the device.
class RowLoss : public Loss {
 protected:
  /// Per sample, on the device.
  struct Rows {
    TensorView targets;
    TensorView loss;
    TensorView correct;
  };

  /// Errors: kDevice.
  Result<Rows> rows(Backend& backend, const ConstTensorView& output, const ConstTensorView& targets,
                    DType dtype) {
    const Shape shape{static_cast<std::int64_t>(output.rows())};
    const Shape all{static_cast<std::int64_t>(targets.elements())};
    Rows made;
    SHOAL_ASSIGN(made.targets, targets_.get(backend, dtype, all));
    SHOAL_ASSIGN(made.loss, loss_.get(backend, backend.real(), shape));
    SHOAL_ASSIGN(made.correct, correct_.get(backend, DType::kI32, shape));
    backend.upload(targets.reshape(all), made.targets);
    return made;
  }

  /// `judged`: correct says 1, 0, or -1 for a sample that does not count.
  Result<BatchResult> sum(Backend& backend, const Rows& rows, bool judged) {
    const std::size_t count = rows.loss.elements();
    BatchResult result;
    result.samples = count;
    if (backend.real() == DType::kF64) {
      add(backend, rows.loss, host_double_, result);
    } else {
      add(backend, rows.loss, host_float_, result);
    }
    if (judged) {
      host_correct_.resize(count);
      backend.download(rows.correct, host_view(host_correct_.data(), rows.correct.shape));
      for (const auto c : host_correct_) {
        result.correct += c > 0 ? 1 : 0;
        result.samples -= c < 0 ? 1 : 0;
      }
    }
    SHOAL_TRY(backend.finish());
    return result;
  }

  /// Errors: kData unless there is a number for each output.
  static Status judge_numbers(const ConstTensorView& output, const ConstTensorView& targets) {
    if (targets.dtype != DType::kF32 || targets.elements() != output.elements()) {
      return data_error("there are " + std::to_string(targets.elements()) +
                        (targets.dtype == DType::kF32 ? "" : " whole") + " target numbers for " +
                        std::to_string(output.elements()) + " outputs");
    }
    return {};
  }

 private:
  template <typename T>
  static void add(Backend& backend, const TensorView& losses, std::vector<T>& host,
                  BatchResult& result) {
    host.resize(losses.elements());
    backend.download(losses, host_view(host.data(), losses.shape));
    for (const T loss : host) {
      result.loss_sum += static_cast<double>(loss);
    }
  }

  Scratch targets_;
  Scratch loss_;
  Scratch correct_;
  std::vector<float> host_float_;
  std::vector<double> host_double_;
  std::vector<std::int32_t> host_correct_;
};

Status check_scores(const Shape& output, const char* name) {
  if (output.rank() == 0) {
    return config_error(std::string(name) + " needs outputs in the last dimension");
  }
  return {};
}

class SoftmaxCrossEntropyLoss final : public RowLoss {
 public:
  explicit SoftmaxCrossEntropyLoss(const Options& options) {
    options_.smoothing = options.get_float("smoothing");
    options_.ignored = static_cast<std::int32_t>(options.get_int("ignored"));
    options_.ignores = true;
  }

  [[nodiscard]] Status check(const Shape& output) const override {
    return check_scores(output, "softmax-cross-entropy");
  }

  [[nodiscard]] Result<BatchResult> evaluate(Backend& backend, ConstTensorView output,
                                             ConstTensorView targets, double scale,
                                             TensorView doutput) override {
    SHOAL_TRY(judge(targets, output.rows(), output.cols()));
    SHOAL_ASSIGN(const Rows made, rows(backend, output, targets, DType::kI32));
    CrossEntropy options = options_;
    options.scale = scale;
    backend.softmax_cross_entropy(output, made.targets, options, doutput, made.loss, made.correct);
    return sum(backend, made, true);
  }

 private:
  [[nodiscard]] Status judge(const ConstTensorView& targets, std::size_t rows,
                             std::size_t classes) const {
    if (targets.dtype != DType::kI32 || targets.elements() != rows) {
      return data_error("there are " + std::to_string(targets.elements()) + " targets for " +
                        std::to_string(rows) + " predictions");
    }
    for (const auto target : targets.span<std::int32_t>()) {
      if (target != options_.ignored &&
          (target < 0 || static_cast<std::size_t>(target) >= classes)) {
        return data_error("a target is class " + std::to_string(target) + ", but the model has " +
                          std::to_string(classes) + " classes (from 0)");
      }
    }
    return {};
  }

  CrossEntropy options_;
};

class MeanSquaredErrorLoss final : public RowLoss {
 public:
  [[nodiscard]] Status check(const Shape& output) const override {
    return check_scores(output, "mean-squared-error");
  }

  [[nodiscard]] Result<BatchResult> evaluate(Backend& backend, ConstTensorView output,
                                             ConstTensorView targets, double scale,
                                             TensorView doutput) override {
    SHOAL_TRY(judge_numbers(output, targets));
    SHOAL_ASSIGN(const Rows made, rows(backend, output, targets, backend.real()));
    backend.squared_error(output, made.targets.reshape(output.shape), scale, doutput, made.loss);
    return sum(backend, made, false);
  }
};

class BinaryCrossEntropyLoss final : public RowLoss {
 public:
  [[nodiscard]] Status check(const Shape& output) const override {
    return check_scores(output, "binary-cross-entropy");
  }

  [[nodiscard]] Result<BatchResult> evaluate(Backend& backend, ConstTensorView output,
                                             ConstTensorView targets, double scale,
                                             TensorView doutput) override {
    SHOAL_TRY(judge_numbers(output, targets));
    for (const float target : targets.span<float>()) {
      if (!(target >= 0 && target <= 1)) {
        return data_error("a target is " + std::to_string(target) +
                          ", but yes or no is a number from 0 to 1");
      }
    }
    SHOAL_ASSIGN(const Rows made, rows(backend, output, targets, backend.real()));
    backend.binary_cross_entropy(output, made.targets.reshape(output.shape), scale, doutput,
                                 made.loss, made.correct);
    return sum(backend, made, true);
  }
};

template <typename L>
std::unique_ptr<Loss> make_plain(const Options& /*options*/) {
  return std::make_unique<L>();
}

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
      {"softmax-cross-entropy",
       "classes; softmax and cross-entropy in one pass",
       {{"smoothing",
         OptionType::kFloat,
         0.0,
         "share of a label spread over all",
         0.0,
         1.0,
         {},
         Scope::kRun},
        {"ignored",
         OptionType::kInt,
         std::int64_t{-100},
         "a label that counts for nothing",
         -2147483648.0,
         2147483647.0,
         {},
         Scope::kRun}},
       [](const Options& options) -> std::unique_ptr<Loss> {
         return std::make_unique<SoftmaxCrossEntropyLoss>(options);
       }},
      {"mean-squared-error",
       "numbers; the mean over a sample's outputs",
       {},
       &make_plain<MeanSquaredErrorLoss>,
       false},
      {"binary-cross-entropy",
       "yes or no for each output, from scores before the sigmoid",
       {},
       &make_plain<BinaryCrossEntropyLoss>,
       false},
  };
  return entries;
}

Result<std::unique_ptr<Loss>> make_loss(
    std::string_view name, const std::vector<std::pair<std::string, OptionValue>>& options) {
  SHOAL_ASSIGN(const LossEntry* entry, find_entry(loss_registry(), &LossEntry::name, "loss", name));
  SHOAL_ASSIGN(const Options checked, checked_options(entry->options, options));
  return entry->make(checked);
}

}  // namespace shoal::ops
