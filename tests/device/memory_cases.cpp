#include "tests/device/operations.h"

// What every model needs: memory, its ways between host and device, products; and exact arithmetic.
namespace shoal::ops::tests {
namespace {

/// More than the buffers that a CUDA device stages bytes in, and not a multiple of them.
constexpr std::int64_t kManyReals = 3'000'001;

Operation zero() {
  Operation op{"zero", Promise::kBits, {}};
  for (const auto n : kLengths) {
    op.cases.emplace_back([n](Trial& t) {
      const auto x = t.normal({n});
      t.backend.zero(x);
      t.result(x);
    });
  }
  return op;
}

Operation copy() {
  Operation op{"copy", Promise::kBits, {}};
  for (const auto n : kLengths) {
    op.cases.emplace_back([n](Trial& t) {
      const auto x = t.normal({n});
      const auto y = t.room({n});
      t.backend.copy(x, y);
      t.result(y);
    });
  }
  return op;
}

/// What Trial does to every array; here in sizes that fill buffers.
Operation there_and_back(const char* name) {
  Operation op{name, Promise::kBits, {}};
  for (const auto n : {std::int64_t{1}, std::int64_t{1} << 20, kManyReals}) {
    op.cases.emplace_back([n](Trial& t) { t.result(t.normal({n})); });
  }
  op.cases.emplace_back([](Trial& t) {
    const auto x = t.bytes({77}, 256);
    const auto y = t.integers({131}, 1000);
    t.result(y);
    t.result(x);
  });
  // Work that is queued reads what it was given, though the next upload comes at once.
  op.cases.emplace_back([](Trial& t) {
    const auto sum = t.room({70001});
    t.backend.zero(sum);
    for (int i = 0; i < 20; ++i) {
      t.backend.add_scaled(sum, 1 + i, t.normal({70001}));
    }
    t.result(sum);
  });
  return op;
}

Operation gemm() {
  struct Sizes {
    std::int64_t m, n, k;
  };
  Operation op{"gemm", Promise::kNear, {}};
  for (const auto& s : {Sizes{1, 1, 1}, Sizes{1, 10, 200}, Sizes{7, 1, 33}, Sizes{65, 129, 31},
                        Sizes{64, 200, 784}, Sizes{3, 4, 0}, Sizes{130, 130, 2000}}) {
    for (const auto a : {Transpose::kNo, Transpose::kYes}) {
      for (const auto b : {Transpose::kNo, Transpose::kYes}) {
        for (const auto into : {Into::kReplace, Into::kAdd}) {
          op.cases.emplace_back([=](Trial& t) {
            const auto left = t.normal(a == Transpose::kNo ? Shape{s.m, s.k} : Shape{s.k, s.m});
            const auto right = t.normal(b == Transpose::kNo ? Shape{s.k, s.n} : Shape{s.n, s.k});
            const auto c = into == Into::kAdd ? t.normal({s.m, s.n}) : t.room({s.m, s.n});
            t.backend.gemm(left, a, right, b, c, into);
            t.result(c);
          });
        }
      }
    }
  }
  return op;
}

Operation scale() {
  Operation op{"scale", Promise::kBits, {}};
  for (const auto n : kLengths) {
    op.cases.emplace_back([n](Trial& t) {
      const auto x = t.normal({n});
      t.backend.scale(x, -1.7);
      t.result(x);
    });
  }
  return op;
}

Operation add_scaled() {
  Operation op{"add_scaled", Promise::kBits, {}};
  for (const auto n : kLengths) {
    op.cases.emplace_back([n](Trial& t) {
      const auto x = t.normal({n});
      const auto y = t.normal({n});
      t.backend.add_scaled(y, 0.3, x);
      t.result(y);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> memory_operations() {
  return {zero(),  copy(),      there_and_back("upload"), there_and_back("download"), gemm(),
          scale(), add_scaled()};
}

}  // namespace shoal::ops::tests
