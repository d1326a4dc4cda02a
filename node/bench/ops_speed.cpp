#include "node/bench/ops_speed.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "node/pace.h"
#include "node/peer_parts.h"

namespace shoal::node {
namespace {

constexpr std::int64_t kPeakSize = 1024;

/// Seconds of a call of `body`, which is called once before and then for `least`, sorted.
template <typename Body>
Result<std::vector<double>> timings(Body body, Duration least, const Clock& clock) {
  SHOAL_TRY(body());
  std::vector<double> times;
  const TimePoint end = clock.now() + least;
  do {
    const TimePoint start = clock.now();
    SHOAL_TRY(body());
    times.push_back(std::max(seconds(clock.now() - start), 1e-9));
  } while (clock.now() < end);
  std::sort(times.begin(), times.end());
  return times;
}

template <typename Body>
Result<double> median(Body body, Duration least, const Clock& clock) {
  SHOAL_ASSIGN(const std::vector<double> times, timings(std::move(body), least, clock));
  return times[times.size() / 2];
}

/// A matrix of ones on the device: a sum of products stays finite.
struct Matrix {
  ops::Storage storage;
  ops::TensorView view;

  static Result<Matrix> make(ops::Backend& backend, std::uint64_t rows, std::uint64_t cols) {
    const ops::Shape shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols)};
    Matrix out;
    SHOAL_ASSIGN(out.storage, backend.allocate(shape.elements() * dtype_bytes(backend.real())));
    out.view = {out.storage.data(), shape, backend.real(), backend.device()};
    const std::vector<float> ones(shape.elements(), 1.0F);
    backend.upload(ops::host_view(ones.data(), shape), out.view);
    return out;
  }
};

Result<double> gemm_gflops(ops::Backend& backend, const GemmSpeed& shape, Duration least,
                           const Clock& clock) {
  SHOAL_ASSIGN(const Matrix a, Matrix::make(backend, shape.m, shape.k));
  SHOAL_ASSIGN(const Matrix b, Matrix::make(backend, shape.n, shape.k));
  SHOAL_ASSIGN(const Matrix c, Matrix::make(backend, shape.m, shape.n));
  const auto product = [&] {
    backend.gemm(a.view, ops::Transpose::kNo, b.view, ops::Transpose::kYes, c.view,
                 ops::Into::kReplace);
    return backend.finish();
  };
  SHOAL_ASSIGN(const std::vector<double> times, timings(product, least, clock));
  return 2e-9 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) / times.front();
}

/// The product of each weight with its input: rows of the weight are outputs, and it is applied
/// wherever the layer's output has them (once for a linear layer, at each place for others).
std::vector<GemmSpeed> gemms_of(const ops::Architecture& architecture, std::uint64_t batch) {
  std::vector<GemmSpeed> gemms;
  for (const auto& node : architecture.nodes()) {
    const std::uint64_t outputs = node.plan.output.shape.elements();
    for (const ops::ParamDecl& param : node.plan.params) {
      const auto n = static_cast<std::uint64_t>(param.shape.rank() < 2 ? 0 : param.shape[0]);
      if (n > 0 && outputs % n == 0) {
        gemms.push_back({node.name + "." + param.name, batch * (outputs / n), n,
                         param.shape.elements() / n, 0});
      }
    }
  }
  return gemms;
}

double forward_flops(const ops::Architecture& architecture) {
  double sum = 0;
  for (const auto& node : architecture.nodes()) {
    sum += static_cast<double>(node.plan.forward_flops);
  }
  return sum;
}

}  // namespace

Result<StepSpeed> time_step(const Config& config, Duration least, const Clock& clock) {
  SHOAL_ASSIGN(const PeerParts parts, make_peer_parts(config, Log()));
  ops::Backend& backend = parts.trainer->model().backend();
  const auto& space = parts.trainer->model().parameters().space();
  StepSpeed speed;
  speed.model = config.chosen("model");
  speed.device = backend.description();
  speed.parameters = parts.architecture->map().parameter_count();
  speed.batch = std::min<std::uint64_t>(static_cast<std::uint64_t>(config.get_int("train.batch")),
                                        parts.dataset->size(Split::kTrain));
  std::vector<std::uint32_t> samples(static_cast<std::size_t>(speed.batch));
  std::iota(samples.begin(), samples.end(), 0U);
  const auto gradient = [&]() -> Status {
    SHOAL_TRY(parts.trainer->gradient(samples, 0, {}));
    return {};
  };
  SHOAL_ASSIGN(speed.gradient_s, median(gradient, least, clock));

  SHOAL_ASSIGN(const auto optimizer,
               ops::make_optimizer(config.chosen("optimizer"), config.plugin_options("optimizer"),
                                   backend, space));
  SHOAL_ASSIGN(ops::FlatArray parameters, ops::FlatArray::make(backend, space));
  const auto step = [&] {
    optimizer->step(optimizer->scalars(1e-3, 0), parameters, parts.trainer->model().gradients());
    return backend.finish();
  };
  SHOAL_ASSIGN(speed.optimizer_s, median(step, least, clock));
  speed.gflops = 3e-9 * forward_flops(*parts.architecture) * static_cast<double>(speed.batch) /
                 speed.gradient_s;
  const GemmSpeed square{"", kPeakSize, kPeakSize, kPeakSize, 0};
  SHOAL_ASSIGN(speed.peak_gflops, gemm_gflops(backend, square, least, clock));
  speed.gemms = gemms_of(*parts.architecture, speed.batch);
  for (GemmSpeed& gemm : speed.gemms) {
    SHOAL_ASSIGN(gemm.gflops, gemm_gflops(backend, gemm, least, clock));
  }
  return speed;
}

}  // namespace shoal::node
