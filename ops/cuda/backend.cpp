#include "ops/backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ops/cuda/cuda_conv.h"
#include "ops/cuda/cuda_exact.h"
#include "ops/cuda/cuda_loss.h"
#include "ops/cuda/cuda_norm.h"
#include "ops/cuda/cuda_pointwise.h"
#include "ops/cuda/cuda_sequence.h"
#include "ops/cuda/cuda_update.h"
#include "ops/cuda/table.h"
#include "ops/gemm_shape.h"

namespace shoal::ops {
namespace {

/// The table as Backend.
class CudaBackend final : public Backend,
                          private CudaQueue,
                          public CudaConvOps,
                          public CudaExactOps,
                          public CudaLossOps,
                          public CudaNormOps,
                          public CudaPointwiseOps,
                          public CudaSequenceOps,
                          public CudaUpdateOps {
 public:
  CudaBackend(const ShoalCudaTable& table_in, ShoalCudaStream* stream_in, std::string name)
      : CudaQueue(table_in, stream_in),
        CudaConvOps(static_cast<CudaQueue&>(*this)),
        CudaExactOps(static_cast<CudaQueue&>(*this)),
        CudaLossOps(static_cast<CudaQueue&>(*this)),
        CudaNormOps(static_cast<CudaQueue&>(*this)),
        CudaPointwiseOps(static_cast<CudaQueue&>(*this)),
        CudaSequenceOps(static_cast<CudaQueue&>(*this)),
        CudaUpdateOps(static_cast<CudaQueue&>(*this)),
        name_(std::move(name)) {}
  [[nodiscard]] std::string description() const override { return "cuda (" + name_ + ")"; }
  [[nodiscard]] DeviceKind device() const override { return DeviceKind::kCuda; }
  [[nodiscard]] DType real() const override { return DType::kF32; }

  [[nodiscard]] Result<Storage> allocate(std::size_t bytes) override {
    void* data = nullptr;
    const auto status = table.allocate(stream, std::max<std::size_t>(bytes, 1), &data);
    if (status != 0) {
      return device_error("the CUDA device has no memory for " + std::to_string(bytes >> 20U) +
                          " MiB more (" + table.error_text(status) +
                          "); use a smaller batch or --device cpu");
    }
    return Storage(data, bytes, {&CudaBackend::release, this});
  }

  void zero(TensorView x) override { note(table.zero(stream, x.data, x.bytes())); }

  void upload(ConstTensorView host, TensorView device) override {
    SHOAL_CHECK(host.dtype == device.dtype && host.elements() == device.elements(),
                "an upload has equal types and sizes");
    note(table.copy_in(stream, device.data, host.data, host.bytes()));
  }

  void download(ConstTensorView device, TensorView host) override {
    SHOAL_CHECK(host.dtype == device.dtype && host.elements() == device.elements(),
                "a download has equal types and sizes");
    note(table.copy_out(stream, host.data, device.data, device.bytes()));
  }

  void copy(ConstTensorView from, TensorView to) override {
    SHOAL_CHECK(from.dtype == to.dtype && from.elements() == to.elements(),
                "a copy has equal types and sizes");
    note(table.copy(stream, to.data, from.data, from.bytes()));
  }

  [[nodiscard]] Status finish() override {
    note(table.finish(stream));
    const auto status = std::exchange(failed, 0);
    if (status != 0) {
      return device_error(std::string("the CUDA device failed: ") + table.error_text(status));
    }
    return {};
  }

  void gemm(ConstTensorView a, Transpose op_a, ConstTensorView b, Transpose op_b, TensorView c,
            Into into) override {
    const auto s = gemm_shape(a, op_a, b, op_b, c);
    note(table.gemm(stream, op_a == Transpose::kYes, op_b == Transpose::kYes, s.m, s.n, s.k,
                    a.as<float>(), s.lda, b.as<float>(), s.ldb, c.as<float>(), into == Into::kAdd));
  }

 private:
  static void release(void* data, void* owner) {
    auto* self = static_cast<CudaBackend*>(owner);
    self->note(self->table.release(self->stream, data));
  }

  std::string name_;
};

/// Errors: kDevice. The library stays loaded for the life of the process.
Result<const ShoalCudaTable*> load_table() {
  void* library = ::dlopen(SHOAL_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
    return device_error(std::string("CUDA cannot be used, since its library does not load: ") +
                        (why == nullptr ? SHOAL_CUDA_LIBRARY : why));
  }
  const auto function =
      reinterpret_cast<ShoalCudaTableFunction>(::dlsym(library, SHOAL_CUDA_TABLE_SYMBOL));
  const ShoalCudaTable* table = function == nullptr ? nullptr : function();
  if (table == nullptr || table->version != SHOAL_CUDA_TABLE_VERSION ||
      table->bytes != sizeof(ShoalCudaTable)) {
    return device_error("CUDA cannot be used: " SHOAL_CUDA_LIBRARY
                        " is of another version than this program; build both again");
  }
  return table;
}

}  // namespace

Result<std::unique_ptr<Backend>> make_cuda_backend(const CudaOptions& options) {
  SHOAL_ASSIGN(const ShoalCudaTable* table, load_table());
  std::int32_t count = 0;
  if (const auto status = table->device_count(&count); status != 0 || count == 0) {
    return device_error(std::string("CUDA cannot be used, since there is no device: ") +
                        (status == 0 ? "none was found" : table->error_text(status)));
  }
  const int device_index = options.device_index;
  if (device_index < 0 || device_index >= count) {
    return device_error("there is no CUDA device " + std::to_string(device_index) +
                        "; devices count from 0 to " + std::to_string(count - 1));
  }
  ShoalCudaStream* stream = nullptr;
  if (const auto status = table->open(device_index, options.tf32, &stream); status != 0) {
    return device_error("CUDA device " + std::to_string(device_index) +
                        " does not open: " + table->error_text(status));
  }
  std::array<char, 128> name{};
  const auto named = table->device_name(stream, name.data(), name.size());
  return std::unique_ptr<Backend>(std::make_unique<CudaBackend>(
      *table, stream,
      (named == 0 ? std::string(name.data()) : "device of unknown name") +
          (options.tf32 ? ", products in TF32" : "")));
}

}  // namespace shoal::ops
