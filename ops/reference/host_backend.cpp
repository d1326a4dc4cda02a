#include "ops/reference/host_backend.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "ops/gemm_shape.h"
#include "ops/kernels/product.h"

namespace shoal::ops {
namespace {

constexpr std::size_t kLargePage = LargePages::kPage;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes < kLargePage ? LargePages::kLine : kLargePage};
}

/// Linux promises more memory than there is and ends the process that uses it, so we ask before.
std::size_t physical_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                               : ~std::size_t{0};
}

void free_host(void* data, void* /*owner*/) {
  ::operator delete (data, std::align_val_t{LargePages::kLine});
}
void free_large(void* data, void* /*owner*/) {
  ::operator delete (data, std::align_val_t{kLargePage});
}

template <typename From, typename To>
void convert(const ConstTensorView& from, const TensorView& to) {
  const auto source = from.span<From>();
  std::transform(source.begin(), source.end(), to.as<To>(),
                 [](From x) { return static_cast<To>(x); });
}

void copy_converting(const ConstTensorView& from, const TensorView& to) {
  SHOAL_CHECK(from.elements() == to.elements(), "a copy has equal sizes");
  if (from.dtype == to.dtype) {
    if (from.bytes() > 0) {
      std::memmove(to.data, from.data, from.bytes());
    }
  } else if (from.dtype == DType::kF32 && to.dtype == DType::kF64) {
    convert<float, double>(from, to);
  } else {
    SHOAL_CHECK(from.dtype == DType::kF64 && to.dtype == DType::kF32, "only reals are converted");
    convert<double, float>(from, to);
  }
}

}  // namespace

template <typename T>
std::string HostBackend<T>::description() const {
  return std::string("reference (float") + (sizeof(T) == 8 ? "64" : "32") + ", plain loops)";
}

template <typename T>
Result<Storage> HostBackend<T>::allocate(std::size_t bytes) {
  const bool fits = bytes <= physical_bytes();
  if (Storage paged = fits ? large_pages_.take(bytes) : Storage(); paged.data() != nullptr) {
    std::memset(paged.data(), 0, bytes);
    return paged;
  }
  void* data =
      fits ? ::operator new(std::max<std::size_t>(bytes, 1), alignment_of(bytes), std::nothrow)
           : nullptr;
  if (data == nullptr) {
    return device_error("no memory for " + std::to_string(bytes >> 20U) +
                        " MiB more; use a smaller batch or model");
  }
  const bool large = bytes >= kLargePage;
  if (large) {
    want_large_pages(data, bytes);
  }
  std::memset(data, 0, bytes);
  return Storage(data, bytes, {large ? &free_large : &free_host, nullptr});
}

template <typename T>
void HostBackend<T>::zero(TensorView x) {
  if (x.bytes() > 0) {
    std::memset(x.data, 0, x.bytes());
  }
}

template <typename T>
void HostBackend<T>::upload(ConstTensorView host, TensorView device) {
  copy_converting(host, device);
}

template <typename T>
void HostBackend<T>::download(ConstTensorView device, TensorView host) {
  copy_converting(device, host);
}

template <typename T>
void HostBackend<T>::copy(ConstTensorView from, TensorView to) {
  SHOAL_CHECK(from.dtype == to.dtype, "a copy keeps the type");
  copy_converting(from, to);
}

template <typename T>
void HostBackend<T>::gemm(ConstTensorView a, Transpose op_a, ConstTensorView b, Transpose op_b,
                          TensorView c, Into into) {
  const auto s = gemm_shape(a, op_a, b, op_b, c);
  using Place = typename kernels::Product<T>::Place;
  const Place at_a = op_a == Transpose::kNo ? Place{s.lda, 1} : Place{1, s.lda};
  const Place at_b = op_b == Transpose::kNo ? Place{s.ldb, 1} : Place{1, s.ldb};
  kernels::for_each_index(s.m * s.n, kernels::Product<T>{a.as<T>(), at_a, b.as<T>(), at_b,
                                                         c.as<T>(), s.n, s.k, into == Into::kAdd});
}

template class HostBackend<float>;
template class HostBackend<double>;

std::unique_ptr<Backend> make_reference_backend() {
  return std::make_unique<HostBackend<double>>();
}

}  // namespace shoal::ops
