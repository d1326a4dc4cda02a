#include "ops/cpu/cpu_conv.h"

#include <algorithm>
#include <cstdint>

#include "ops/kernels/conv.h"

namespace shoal::ops {
namespace {

constexpr std::size_t kSlack = 64;         // floats that whole vectors reach beyond the end
constexpr std::size_t kTileColumns = 800;  // places of a tile, when an image has fewer
constexpr std::size_t kBlockFloats =
    std::size_t{96} * 1024;  // columns of a block of channels: a usual L2's part

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

/// Some images of a batch, and the sizes that follow for one group.
struct CpuConvOps::Tile {
  explicit Tile(const ConvSizes& sizes)
      : s(sizes),
        planes(sizes),
        places(kernels::conv_places(sizes)),
        depth(kernels::conv_depth(sizes)),
        in(sizes.in / sizes.groups),
        out(sizes.out / sizes.groups),
        squares(sizes.kernel * sizes.kernel),
        lanes(cpu::vector_lanes()),
        panel(cpu::panel_cols()),
        out_stride(round_up(out, lanes)),
        images_most(std::clamp<std::size_t>(kTileColumns / places, 1,
                                            std::max<std::size_t>(sizes.batch, 1))) {
    const std::size_t columns_most = round_up(images_most * places, lanes);
    block = std::clamp<std::size_t>(kBlockFloats / (squares * columns_most), 1, in);
    block_floats = block * squares * columns_most;
    image_floats = in * planes.plane();
  }

  /// Moves to the images from `at` on.
  void move_to(std::size_t at, std::vector<cpu::Run>& runs, std::vector<cpu::Run>& rows) {
    const std::size_t before = images;
    first = at;
    images = std::min(images_most, s.batch - at);
    filled = images * places;
    columns = round_up(filled, lanes);
    if (images != before) {
      cpu::make_runs(planes, images, image_floats, lanes, panel, runs);
      cpu::make_runs(planes, images, image_floats, lanes, 0, rows);
    }
  }

  [[nodiscard]] cpu::Columns columns_of(std::size_t channel,
                                        const std::vector<cpu::Run>& runs) const {
    return {planes, runs, std::min(block, in - channel), columns};
  }
  [[nodiscard]] std::size_t planes_floats() const { return images_most * image_floats; }
  [[nodiscard]] std::size_t product_floats() const {
    return out * round_up(images_most * places, lanes);
  }
  /// Where the transposed weights of a block begin; the last tile of each is stored in full.
  [[nodiscard]] std::size_t weight_at(std::size_t group, std::size_t channel) const {
    const std::size_t blocks = (in + block - 1) / block;
    return (group * blocks + channel / block) * (block * squares + cpu::rows_of_tile(6)) * out;
  }
  /// Elements of y behind the pooling, for one channel.
  [[nodiscard]] std::size_t results() const {
    return (s.conv_height / s.pool) * (s.conv_width / s.pool);
  }

  const ConvSizes& s;
  cpu::PaddedPlanes planes;
  std::size_t places;
  std::size_t depth;
  std::size_t in;   // channels of a group
  std::size_t out;  // alike
  std::size_t squares;
  std::size_t lanes;
  std::size_t panel;
  std::size_t out_stride;
  std::size_t images_most;
  std::size_t block = 0;  // channels whose columns are made at a time
  std::size_t block_floats = 0;
  std::size_t image_floats = 0;
  std::size_t first = 0;
  std::size_t images = 0;
  std::size_t filled = 0;
  std::size_t columns = 0;  // filled, in whole vectors
};

std::vector<std::size_t> CpuConvOps::scratch_bytes(const ConvSizes& s) {
  using cpu::Room;
  const Tile tile(s);
  std::vector<std::size_t> bytes = {Room::bytes_for(tile.planes_floats() + kSlack), 0,
                                    Room::bytes_for(tile.block_floats + kSlack),
                                    Room::bytes_for(tile.product_floats() + kSlack)};
  if (PooledConvBackward::suits(s)) {
    bytes.resize(kRooms, 0);
    const auto more = PooledConvBackward::scratch_bytes(s);
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
  }
  bytes[1] = bytes[0];
  bytes.push_back(Room::bytes_for(s.groups * tile.depth * tile.out_stride));
  bytes.push_back(Room::bytes_for(tile.weight_at(s.groups, 0)));
  bytes.push_back(cpu::PackedMatrix::bytes_for(tile.images_most * tile.places, tile.out));
  return bytes;
}

std::size_t CpuConvOps::held_bytes() const {
  return planes_.bytes() + dplanes_.bytes() + columns_.bytes() + product_.bytes() +
         dweight_.bytes() + weight_.bytes() + packed_.bytes() + pooled_.held_bytes();
}

void CpuConvOps::conv2d(const ConvSizes& s, ConstTensorView x, ConstTensorView weight,
                        ConstTensorView bias, Activation activation, TensorView y,
                        TensorView argmax) {
  Tile tile(s);
  std::fill_n(planes_.get(tile.planes_floats() + kSlack), tile.planes_floats(), 0.0F);
  columns_.get(tile.block_floats + kSlack);
  const float* product = product_.get(tile.product_floats() + kSlack);
  const cpu::ConvRow row{s, activation == Activation::kRelu};
  auto* winners = argmax.as_or_null<std::uint8_t>();
  runs_.clear();
  for (std::size_t first = 0; first < s.batch; first += tile.images) {
    tile.move_to(first, runs_, rows_);
    for (std::size_t group = 0; group < s.groups; ++group) {
      fill_planes(tile, x.as<float>(), group);
      forward_tile(tile, weight.as<float>() + group * tile.out * tile.depth);
      for (std::size_t channel = 0; channel < tile.out; ++channel) {
        const std::size_t whole = group * tile.out + channel;
        const float b = bias.empty() ? 0.0F : bias.as<float>()[whole];
        for (std::size_t image = 0; image < tile.images; ++image) {
          const std::size_t at = ((first + image) * s.out + whole) * tile.results();
          cpu::conv_result(row, product + channel * tile.columns + image * tile.places, b,
                           y.as<float>() + at, winners == nullptr ? nullptr : winners + at);
        }
      }
    }
  }
}

void CpuConvOps::fill_planes(const Tile& tile, const float* x, std::size_t group) {
  const std::size_t pixels = tile.s.height * tile.s.width;
  float* planes = planes_.get(0);
  for (std::size_t image = 0; image < tile.images; ++image) {
    const std::size_t channel = (tile.first + image) * tile.s.in + group * tile.in;
    cpu::copy_in(tile.planes, x + channel * pixels, tile.in, planes + image * tile.image_floats);
  }
}

void CpuConvOps::forward_tile(const Tile& tile, const float* weight) {
  float* columns = columns_.get(0);
  const float* planes = planes_.get(0);
  for (std::size_t channel = 0; channel < tile.in; channel += tile.block) {
    const cpu::Columns block = tile.columns_of(channel, runs_);
    cpu::pack_columns(block, planes + channel * tile.planes.plane(), columns);
    const cpu::ProductLeft left{weight + channel * tile.squares, tile.depth, tile.depth, 1};
    cpu::product(left, columns, product_.get(0), tile.columns, tile.out, tile.columns,
                 block.channels * tile.squares, channel > 0);
  }
}

void CpuConvOps::conv2d_backward(const ConvSizes& s, const ConvBackward& pass) {
  if (PooledConvBackward::suits(s)) {
    pooled_.run(s, pass);
    return;
  }
  Tile tile(s);
  std::fill_n(planes_.get(tile.planes_floats() + kSlack), tile.planes_floats(), 0.0F);
  dplanes_.get(tile.planes_floats() + kSlack);
  columns_.get(tile.block_floats + kSlack);
  product_.get(tile.product_floats() + kSlack);
  dweight_.get(s.groups * tile.depth * tile.out_stride);
  dbias_.assign(s.out, 0.0F);
  if (!pass.dx.empty()) {
    transpose_weight(s, pass.weight.as<float>());
  }
  runs_.clear();
  for (std::size_t first = 0; first < s.batch; first += tile.images) {
    tile.move_to(first, runs_, rows_);
    for (std::size_t group = 0; group < s.groups; ++group) {
      backward_result(tile, pass, group);
      if (!pass.dweight.empty()) {
        fill_planes(tile, pass.x.as<float>(), group);
        weight_gradient(tile, group, first == 0);
      }
      if (!pass.dx.empty()) {
        input_gradient(tile, group);
        copy_input_gradient(tile, group, pass.dx.as<float>());
      }
    }
  }
  put_gradients(tile, pass);
}

void CpuConvOps::backward_result(const Tile& tile, const ConvBackward& pass, std::size_t group) {
  const cpu::ConvRow row{tile.s, pass.activation == Activation::kRelu};
  const auto* winners = pass.argmax.as_or_null<std::uint8_t>();
  float* product = product_.get(0);
  for (std::size_t channel = 0; channel < tile.out; ++channel) {
    const std::size_t whole = group * tile.out + channel;
    for (std::size_t image = 0; image < tile.images; ++image) {
      const std::size_t at = ((tile.first + image) * tile.s.out + whole) * tile.results();
      dbias_[whole] +=
          cpu::conv_result_backward(row, pass.y.as<float>() + at, pass.dy.as<float>() + at,
                                    winners == nullptr ? nullptr : winners + at,
                                    product + channel * tile.columns + image * tile.places);
    }
  }
}

/// dweight^T [depth, out] (+)= columns times the product's gradient transposed, panel by panel, so
/// that channels out are the lanes and columns are used as they were laid out.
void CpuConvOps::weight_gradient(const Tile& tile, std::size_t group, bool first) {
  float* columns = columns_.get(0);
  const float* planes = planes_.get(0);
  packed_.pack({product_.get(0), tile.columns, true}, tile.filled, tile.out);
  for (std::size_t channel = 0; channel < tile.in; channel += tile.block) {
    const cpu::Columns block = tile.columns_of(channel, runs_);
    const std::size_t rows = block.channels * tile.squares;
    cpu::pack_columns(block, planes + channel * tile.planes.plane(), columns);
    float* to = dweight_.get(0) + (group * tile.depth + channel * tile.squares) * tile.out_stride;
    for (std::size_t at = 0; at < tile.filled; at += tile.panel) {
      const std::size_t width = std::min(tile.panel, tile.columns - at);
      const std::size_t filled = std::min(tile.panel, tile.filled - at);
      for (std::size_t out = 0; out < tile.out; out += tile.panel) {
        const std::size_t lanes = std::min(tile.panel, tile.out_stride - out);
        cpu::product({columns + at * rows, width, width, 1},
                     packed_.data() + out * tile.filled + at * lanes, to + out, tile.out_stride,
                     rows, lanes, filled, !first || at > 0);
      }
    }
  }
}

/// The weights of each block transposed, in tiles as the kernel reads them.
void CpuConvOps::transpose_weight(const ConvSizes& s, const float* weight) {
  const Tile tile(s);
  float* all = weight_.get(tile.weight_at(s.groups, 0));
  for (std::size_t group = 0; group < s.groups; ++group, weight += tile.out * tile.depth) {
    for (std::size_t channel = 0; channel < tile.in; channel += tile.block) {
      float* to = all + tile.weight_at(group, channel);
      const std::size_t begin = channel * tile.squares;
      const std::size_t rows = std::min(tile.block, tile.in - channel) * tile.squares;
      const std::size_t step = cpu::rows_of_tile(rows);
      for (std::size_t row = 0; row < rows; row += step, to += step * tile.out) {
        const std::size_t count = std::min(step, rows - row);
        for (std::size_t out = 0; out < tile.out; ++out) {
          std::copy_n(weight + out * tile.depth + begin + row, count, to + out * step);
        }
      }
    }
  }
}

void CpuConvOps::input_gradient(const Tile& tile, std::size_t group) {
  float* col = columns_.get(0);
  float* planes = dplanes_.get(0);
  std::fill_n(planes, tile.images * tile.image_floats, 0.0F);
  packed_.pack({product_.get(0), tile.columns, false}, tile.out, tile.columns);
  for (std::size_t channel = 0; channel < tile.in; channel += tile.block) {
    const cpu::Columns block = tile.columns_of(channel, rows_);
    const std::size_t rows = block.channels * tile.squares;
    const cpu::ProductLeft left{weight_.get(0) + tile.weight_at(group, channel), tile.out, 1,
                                cpu::rows_of_tile(rows)};
    cpu::product(left, packed_.data(), col, tile.columns, rows, tile.columns, tile.out, false);
    cpu::add_columns(block, col, planes + channel * tile.planes.plane());
  }
}

void CpuConvOps::copy_input_gradient(const Tile& tile, std::size_t group, float* dx) {
  const std::size_t pixels = tile.s.height * tile.s.width;
  for (std::size_t image = 0; image < tile.images; ++image) {
    const std::size_t channel = (tile.first + image) * tile.s.in + group * tile.in;
    cpu::copy_out(tile.planes, dplanes_.get(0) + image * tile.image_floats, tile.in,
                  dx + channel * pixels);
  }
}

void CpuConvOps::put_gradients(const Tile& tile, const ConvBackward& pass) {
  const bool add = pass.into == Into::kAdd;
  if (!pass.dbias.empty()) {
    float* dbias = pass.dbias.as<float>();
    for (std::size_t i = 0; i < dbias_.size(); ++i) {
      dbias[i] = add ? dbias[i] + dbias_[i] : dbias_[i];
    }
  }
  if (pass.dweight.empty()) {
    return;
  }
  float* to = pass.dweight.as<float>();
  for (std::size_t out = 0; out < tile.s.out; ++out, to += tile.depth) {
    const float* from =
        dweight_.get(0) + out / tile.out * tile.depth * tile.out_stride + out % tile.out;
    for (std::size_t k = 0; k < tile.depth; ++k) {
      const float value = from[k * tile.out_stride];
      to[k] = add ? to[k] + value : value;
    }
  }
}

}  // namespace shoal::ops
