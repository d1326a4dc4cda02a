#include <cmath>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "ops/reference/host_backend.h"
#include "tests/device/judge.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

// The one list of operations: float64, kernel bodies as host code, CPU, and CUDA where there is a
// GPU.
namespace shoal::ops::tests {
namespace {

/// Names of the operations that a header declares: `virtual void name(...) = 0`.
void declared_in(const std::string& header, std::set<std::string>& names) {
  std::ifstream in(shoal::tests::source_path(header));
  REQUIRE(in.is_open());
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::regex pattern(R"(virtual void (\w+)\()");
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) {
    names.insert((*i)[1]);
  }
}

TEST_CASE("the list of operations is that of all devices, and each has cases") {
  std::set<std::string> declared;
  declared_in("ops/backend.h", declared);
  for (const char* family : {"conv", "exact", "loss", "norm", "pointwise", "sequence", "update"}) {
    declared_in("ops/device/" + std::string(family) + "_ops.h", declared);
  }
  std::set<std::string> listed;
  for (const auto& operation : device_operations()) {
    CHECK(listed.insert(operation.name).second);
    CHECK(operation.cases.size() >= 3);
  }
  CHECK(listed == declared);
}

TEST_CASE("every operation conforms on every device that is here") {
  const auto exact = make_reference_backend();
  HostBackend<float> bodies;
  const auto cpu = make_cpu_backend();
  const auto cuda = make_cuda_backend();
  if (!cuda.ok()) {
    WARN("no GPU here: " << cuda.error().message);
    CHECK(cuda.error().code == Code::kDevice);
  }
  Backend* device = cuda.ok() ? cuda->get() : nullptr;
  for (const auto& operation : device_operations()) {
    INFO(operation.name);
    for (const auto& fault : judge(operation, {*exact, bodies, *cpu, device}).faults) {
      FAIL_CHECK(fault);
    }
  }
}

/// A device that is off by one rounding, or by TF32's, or that leaves out what is not wanted.
class Spoiled final : public HostBackend<float> {
 public:
  void scale(TensorView x, double factor) override {
    HostBackend::scale(x, factor);
    const auto last = x.elements() - 1;
    x.as<float>()[last] = std::nextafterf(x.as<float>()[last], 2.0F);
  }
  void gemm(ConstTensorView a, Transpose op_a, ConstTensorView b, Transpose op_b, TensorView c,
            Into into) override {
    HostBackend::gemm(a, op_a, b, op_b, c, into);
    HostBackend::scale(c, 1 + 5e-4);
  }
  void max_pool_backward(const PoolSizes& /*s*/, ConstTensorView /*dy*/, ConstTensorView /*argmax*/,
                         TensorView /*dx*/) override {}
};

TEST_CASE("a device that does not conform is found") {
  const auto exact = make_reference_backend();
  HostBackend<float> bodies;
  const auto cpu = make_cpu_backend();
  Spoiled spoiled;
  for (const auto& operation : device_operations()) {
    const bool bad = operation.name == "scale" || operation.name == "gemm" ||
                     operation.name == "max_pool_backward";
    if (bad || operation.name == "add_scaled") {
      INFO(operation.name);
      CHECK(judge(operation, {*exact, bodies, *cpu, &spoiled}).faults.empty() != bad);
    }
  }
}

}  // namespace
}  // namespace shoal::ops::tests
