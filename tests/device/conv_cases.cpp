#include "ops/kernels/conv.h"
#include "tests/device/operations.h"

namespace shoal::ops::tests {
namespace {

std::int64_t whole(std::size_t n) { return static_cast<std::int64_t>(n); }

ConvSizes conv(std::size_t batch, std::size_t in, std::size_t height, std::size_t width,
               std::size_t out, std::size_t kernel) {
  ConvSizes s{};
  s.batch = batch;
  s.in = in;
  s.height = height;
  s.width = width;
  s.out = out;
  s.kernel = kernel;
  s.stride = s.dilation = s.groups = s.pool = 1;
  return s;
}

ConvSizes with(ConvSizes s, std::size_t stride, std::size_t padding, std::size_t dilation,
               std::size_t groups, std::size_t pool) {
  s.stride = stride;
  s.padding = padding;
  s.dilation = dilation;
  s.groups = groups;
  s.pool = pool;
  return s;
}

/// Cases with the size of the result filled in.
std::vector<ConvSizes> conv_sizes() {
  std::vector<ConvSizes> all = {
      conv(1, 1, 1, 1, 1, 1),
      conv(1, 1, 28, 28, 6, 5),
      conv(3, 2, 5, 7, 3, 3),
      with(conv(2, 3, 7, 5, 4, 3), 2, 2, 1, 1, 1),
      with(conv(5, 2, 9, 8, 3, 3), 3, 3, 2, 1, 1),
      with(conv(2, 4, 6, 5, 6, 3), 1, 1, 1, 2, 1),
      with(conv(3, 3, 5, 5, 3, 3), 2, 0, 1, 3, 1),
      with(conv(7, 2, 9, 7, 3, 2), 1, 0, 1, 1, 2),
      with(conv(1, 1, 7, 9, 2, 5), 1, 2, 1, 1, 2),
      with(conv(4, 2, 9, 9, 2, 1), 1, 0, 1, 1, 3),
      with(conv(9, 32, 14, 14, 64, 5), 1, 2, 1, 1, 2),
      // Columns of more images than the device's scratch holds at once.
      with(conv(70, 16, 32, 32, 4, 5), 1, 2, 1, 1, 1),
  };
  for (auto& s : all) {
    const std::size_t reach = s.dilation * (s.kernel - 1) + 1;
    s.conv_height = (s.height + 2 * s.padding - reach) / s.stride + 1;
    s.conv_width = (s.width + 2 * s.padding - reach) / s.stride + 1;
  }
  return all;
}

Shape input(const ConvSizes& s) {
  return {whole(s.batch), whole(s.in), whole(s.height), whole(s.width)};
}
Shape output(const ConvSizes& s) {
  return {whole(s.batch), whole(s.out), whole(s.conv_height / s.pool),
          whole(s.conv_width / s.pool)};
}
Shape weights(const ConvSizes& s) {
  return {whole(s.out), whole(s.in / s.groups), whole(s.kernel), whole(s.kernel)};
}

Operation conv2d() {
  Operation op{"conv2d", Promise::kNear, {}};
  for (const auto& s : conv_sizes()) {
    for (const auto activation : {Activation::kNone, Activation::kRelu}) {
      op.cases.emplace_back([s, activation](Trial& t) {
        const auto x = t.normal(input(s));
        const auto weight = t.normal(weights(s));
        const auto bias = activation == Activation::kRelu ? t.normal({whole(s.out)}) : TensorView();
        const auto y = t.room(output(s));
        // Which of two near-equal places won is not compared: both are right.
        const auto argmax = s.pool == 1 ? TensorView() : t.byte_room(output(s));
        t.backend.conv2d(s, x, weight, bias, activation, y, argmax);
        t.result(y);
      });
    }
  }
  return op;
}

Operation conv2d_backward() {
  Operation op{"conv2d_backward", Promise::kNear, {}};
  for (const auto& s : conv_sizes()) {
    for (const auto into : {Into::kReplace, Into::kAdd}) {
      op.cases.emplace_back([s, into](Trial& t) {
        const bool add = into == Into::kAdd;
        ConvBackward pass;
        pass.x = t.normal(input(s));
        pass.weight = t.normal(weights(s));
        pass.y = t.normal(output(s));
        pass.argmax = s.pool == 1 ? TensorView() : t.bytes(output(s), s.pool * s.pool);
        pass.dy = t.normal(output(s));
        pass.activation = add ? Activation::kRelu : Activation::kNone;
        pass.dweight = add ? t.normal(weights(s)) : t.room(weights(s));
        pass.dbias = add ? t.normal({whole(s.out)}) : t.room({whole(s.out)});
        pass.dx = t.room(input(s));
        pass.into = into;
        t.backend.conv2d_backward(s, pass);
        t.result(pass.dweight);
        t.result(pass.dbias);
        t.result(pass.dx);
      });
    }
  }
  // What is not wanted is not written.
  op.cases.emplace_back([](Trial& t) {
    const ConvSizes s = conv_sizes()[2];
    ConvBackward pass;
    pass.x = t.normal(input(s));
    pass.weight = t.normal(weights(s));
    pass.y = t.normal(output(s));
    pass.dy = t.normal(output(s));
    pass.dx = t.room(input(s));
    t.backend.conv2d_backward(s, pass);
    t.result(pass.dx);
  });
  return op;
}

std::vector<PoolSizes> pool_sizes() {
  std::vector<PoolSizes> all = {{1, 1, 1, 1, 1, 0, 0, 0},   {3, 5, 7, 2, 2, 0, 0, 0},
                                {6, 7, 6, 3, 2, 1, 0, 0},   {2, 9, 9, 3, 1, 1, 0, 0},
                                {1, 28, 28, 2, 2, 0, 0, 0}, {130, 6, 5, 2, 1, 0, 0, 0}};
  for (auto& s : all) {
    s.out_height = (s.height + 2 * s.padding - s.kernel) / s.stride + 1;
    s.out_width = (s.width + 2 * s.padding - s.kernel) / s.stride + 1;
  }
  return all;
}

Shape pool_input(const PoolSizes& s) { return {whole(s.planes), whole(s.height), whole(s.width)}; }
Shape pool_output(const PoolSizes& s) {
  return {whole(s.planes), whole(s.out_height), whole(s.out_width)};
}

void max_pool(Trial& t, const PoolSizes& s, bool back) {
  const auto x = t.normal(pool_input(s));
  const auto y = t.room(pool_output(s));
  const auto argmax = t.byte_room(pool_output(s));
  t.backend.max_pool(s, x, y, argmax);
  if (!back) {
    t.result(y);
    t.result(argmax);
    return;
  }
  const auto dy = t.normal(pool_output(s));
  const auto dx = t.room(pool_input(s));
  t.backend.max_pool_backward(s, dy, argmax, dx);
  t.result(dx);
}

void avg_pool(Trial& t, const PoolSizes& s, bool back) {
  const auto from = t.normal(back ? pool_output(s) : pool_input(s));
  const auto to = t.room(back ? pool_input(s) : pool_output(s));
  if (back) {
    t.backend.avg_pool_backward(s, from, to);
  } else {
    t.backend.avg_pool(s, from, to);
  }
  t.result(to);
}

using PoolCase = void (*)(Trial&, const PoolSizes&, bool);

Operation pool(const char* name, PoolCase run, bool back) {
  Operation op{name, Promise::kBodies, {}};
  for (const auto& s : pool_sizes()) {
    op.cases.emplace_back([=](Trial& t) { run(t, s, back); });
  }
  return op;
}

Operation row_mean(const char* name, bool back) {
  Operation op{name, Promise::kBodies, {}};
  for (const auto& m : kMatrices) {
    op.cases.emplace_back([m, back](Trial& t) {
      const Shape wide = {m.rows, m.cols};
      const auto from = t.normal(back ? Shape{m.rows} : wide);
      const auto to = t.room(back ? wide : Shape{m.rows});
      if (back) {
        t.backend.row_mean_backward(from, to);
      } else {
        t.backend.row_mean(from, to);
      }
      t.result(to);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> conv_operations() {
  return {conv2d(),
          conv2d_backward(),
          pool("max_pool", &max_pool, false),
          pool("max_pool_backward", &max_pool, true),
          pool("avg_pool", &avg_pool, false),
          pool("avg_pool_backward", &avg_pool, true),
          row_mean("row_mean", false),
          row_mean("row_mean_backward", true)};
}

}  // namespace shoal::ops::tests
