#include "ops/optim/sgd.h"

namespace shoal::ops {
namespace {

class Sgd final : public Optimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto sgd = std::make_unique<Sgd>();
    sgd->backend_ = &backend;
    sgd->scalars_.momentum = options.get_float("momentum");
    sgd->scalars_.weight_decay = options.get_float("weight_decay");
    sgd->scalars_.nesterov = options.get_bool("nesterov");
    if (sgd->scalars_.nesterov && sgd->scalars_.momentum == 0) {
      return config_error("nesterov needs a momentum above 0; set momentum or drop nesterov");
    }
    if (sgd->scalars_.momentum != 0) {
      SHOAL_ASSIGN(sgd->momentum_, FlatArray::make(backend, space));
      sgd->has_momentum_ = true;
    }
    return std::unique_ptr<Optimizer>(std::move(sgd));
  }

  [[nodiscard]] std::vector<StateArray> state() override {
    return has_momentum_ ? std::vector<StateArray>{{"momentum", &momentum_}}
                         : std::vector<StateArray>{};
  }

  void reset() override {
    if (has_momentum_) {
      momentum_.zero();
    }
  }

 protected:
  void apply(const StepScalars& scalars, std::size_t begin, TensorView parameters,
             ConstTensorView gradients) override {
    SgdScalars s = scalars_;
    s.lr = scalars.lr;
    backend_->sgd(
        parameters, gradients,
        has_momentum_ ? momentum_.view().slice(begin, parameters.elements()) : TensorView(), s);
  }

 private:
  Backend* backend_ = nullptr;
  SgdScalars scalars_;
  FlatArray momentum_;
  bool has_momentum_ = false;
};

std::size_t sgd_state_reals(const Options& options) {
  return options.get_float("momentum") != 0 ? 1 : 0;
}

}  // namespace

OptimizerEntry sgd_entry() {
  return {"sgd",
          "stochastic gradient descent with momentum",
          {{"momentum",
            OptionType::kFloat,
            0.9,
            "part of the last direction that is kept; 0: none",
            0.0,
            1.0,
            {},
            Scope::kRun},
           {"nesterov",
            OptionType::kBool,
            false,
            "look ahead along the momentum (PyTorch's convention)",
            {},
            {},
            {},
            Scope::kRun},
           {"weight_decay",
            OptionType::kFloat,
            0.0,
            "times the parameter, added to its gradient",
            0.0,
            1.0,
            {},
            Scope::kRun}},
          &Sgd::make,
          &sgd_state_reals,
          {{{"momentum", 0.0}},
           {{"momentum", 0.9}, {"nesterov", true}},
           {{"momentum", 0.5}, {"weight_decay", 0.01}},
           {{"momentum", 0.0}, {"weight_decay", 0.1}}}};
}

}  // namespace shoal::ops
