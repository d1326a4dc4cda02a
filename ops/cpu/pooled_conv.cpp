#include "ops/cpu/pooled_conv.h"

#include <algorithm>

#include "ops/cpu/product.h"
#include "ops/kernels/conv.h"

namespace shoal::ops {
namespace {

constexpr std::size_t kSlack = 64;  // floats that whole vectors reach beyond the end

}  // namespace

/// Where things lie: padded images [rows, cols, in], weights [out, kernel, run].
struct PooledConvBackward::Layout {
  explicit Layout(const ConvSizes& sizes)
      : s(sizes),
        cols(s.width + 2 * s.padding),
        row(cols * s.in),
        floats((s.height + 2 * s.padding) * row),
        run((s.kernel * s.in + cpu::vector_lanes() - 1) / cpu::vector_lanes() *
            cpu::vector_lanes()),
        filter(s.kernel * run),
        height(s.conv_height / s.pool),
        width(s.conv_width / s.pool) {}

  /// The pixel that the kernel's first element meets.
  [[nodiscard]] std::size_t pixel(std::size_t down, std::size_t right) const {
    return (down * s.stride * cols + right * s.stride) * s.in;
  }

  const ConvSizes& s;
  std::size_t cols;
  std::size_t row;
  std::size_t floats;
  std::size_t run;     // one row of the kernel, in whole vectors
  std::size_t filter;  // one channel out
  std::size_t height;  // of y
  std::size_t width;
};

bool PooledConvBackward::suits(const ConvSizes& s) {
  constexpr std::size_t kOffsetMost = 0xFFFFFFFF;  // of a term
  return s.pool > 1 && s.groups == 1 && s.dilation == 1 &&
         2 * s.kernel * s.in >= cpu::vector_lanes() &&
         (s.height + 2 * s.padding) * (s.width + 2 * s.padding) * s.in < kOffsetMost &&
         s.out * s.kernel * (s.kernel * s.in + cpu::vector_lanes()) < kOffsetMost;
}

std::vector<std::size_t> PooledConvBackward::scratch_bytes(const ConvSizes& s) {
  const Layout at(s);
  const std::size_t terms = s.out * at.height * at.width;
  return {cpu::Room::bytes_for(at.floats + kSlack),
          cpu::Room::bytes_for(s.out * at.filter + kSlack), cpu::Room::bytes_for(s.out * at.filter),
          terms * (2 * sizeof(cpu::Term) + sizeof(std::uint32_t)),
          (kernels::conv_places(s) + 1) * sizeof(std::size_t)};
}

std::size_t PooledConvBackward::held_bytes() const {
  return pixels_.bytes() + weight_.bytes() + dweight_.bytes() +
         (chosen_.capacity() + by_place_.capacity()) * sizeof(cpu::Term) +
         places_.capacity() * sizeof(std::uint32_t) + starts_.capacity() * sizeof(std::size_t);
}

void PooledConvBackward::run(const ConvSizes& s, const ConvBackward& pass) {
  const Layout at(s);
  const std::size_t terms = s.out * at.height * at.width;
  chosen_.reserve(terms);
  by_place_.reserve(terms);
  places_.reserve(terms);
  pixels_.get(at.floats + kSlack);
  dbias_.assign(s.out, 0.0F);
  std::fill_n(dweight_.get(s.out * at.filter), s.out * at.filter, 0.0F);
  if (!pass.dx.empty()) {
    lay_out_weight(at, pass.weight.as<float>());
  }
  const std::size_t image_floats = s.in * s.height * s.width;
  for (std::size_t image = 0; image < s.batch; ++image) {
    choose(at, pass, image);
    if (!pass.dweight.empty()) {
      weight_gradient(at, pass.x.as<float>() + image * image_floats);
    }
    if (!pass.dx.empty()) {
      input_gradient(at, pass.dx.as<float>() + image * image_floats);
    }
  }
  put_gradients(at, pass);
}

/// The places of one image that have a gradient, channel by channel.
void PooledConvBackward::choose(const Layout& at, const ConvBackward& pass, std::size_t image) {
  const ConvSizes& s = at.s;
  const bool with_relu = pass.activation == Activation::kRelu;
  const std::size_t first = image * s.out * at.height * at.width;
  const float* dy = pass.dy.as<float>() + first;
  const float* y = pass.y.as<float>() + first;
  const auto* argmax = pass.argmax.as<std::uint8_t>() + first;
  chosen_.clear();
  places_.clear();
  ends_.clear();
  for (std::size_t channel = 0; channel < s.out; ++channel) {
    float sum = 0.0F;
    for (std::size_t r = 0; r < at.height; ++r) {
      for (std::size_t c = 0; c < at.width; ++c, ++dy, ++y, ++argmax) {
        const float gradient = with_relu && *y <= 0.0F ? 0.0F : *dy;
        if (gradient == 0.0F) {
          continue;
        }
        const std::size_t down = r * s.pool + *argmax / s.pool;
        const std::size_t right = c * s.pool + *argmax % s.pool;
        chosen_.push_back({static_cast<std::uint32_t>(at.pixel(down, right)), gradient});
        places_.push_back(static_cast<std::uint32_t>(down * s.conv_width + right));
        sum += gradient;
      }
    }
    dbias_[channel] += sum;
    ends_.push_back(chosen_.size());
  }
}

/// dweight [out, kernel, run] += gradients times the pixels under the kernel.
void PooledConvBackward::weight_gradient(const Layout& at, const float* x) {
  const ConvSizes& s = at.s;
  float* pixels = pixels_.get(0);
  std::fill_n(pixels, at.floats, 0.0F);
  for (std::size_t row = 0; row < s.height; ++row) {
    cpu::transpose(x + row * s.width, s.height * s.width, s.width, s.in,
                   pixels + (row + s.padding) * at.row + s.padding * s.in, s.in);
  }
  std::size_t begin = 0;
  for (std::size_t channel = 0; channel < s.out; ++channel) {
    for (std::size_t ky = 0; ky < s.kernel; ++ky) {
      cpu::sum_terms(chosen_.data() + begin, ends_[channel] - begin, pixels + ky * at.row,
                     dweight_.get(0) + channel * at.filter + ky * at.run, at.run, true);
    }
    begin = ends_[channel];
  }
}

/// The same gradients place by place, with the filters that they multiply.
void PooledConvBackward::sort_by_place(const Layout& at) {
  starts_.assign(kernels::conv_places(at.s) + 1, 0);
  for (const std::uint32_t place : places_) {
    ++starts_[place + 1];
  }
  for (std::size_t place = 1; place < starts_.size(); ++place) {
    starts_[place] += starts_[place - 1];
  }
  by_place_.resize(chosen_.size());
  std::size_t i = 0;
  for (std::size_t channel = 0; channel < at.s.out; ++channel) {
    for (; i < ends_[channel]; ++i) {
      by_place_[starts_[places_[i]]++] = {static_cast<std::uint32_t>(channel * at.filter),
                                          chosen_[i].factor};
    }
  }
  // Each start has moved to its end, which is the next one's start.
  std::rotate(starts_.rbegin(), starts_.rbegin() + 1, starts_.rend());
  starts_[0] = 0;
}

void PooledConvBackward::input_gradient(const Layout& at, float* dx) {
  const ConvSizes& s = at.s;
  sort_by_place(at);
  float* pixels = pixels_.get(0);
  std::fill_n(pixels, at.floats, 0.0F);
  for (std::size_t place = 0; place + 1 < starts_.size(); ++place) {
    const std::size_t count = starts_[place + 1] - starts_[place];
    float* to = pixels + at.pixel(place / s.conv_width, place % s.conv_width);
    for (std::size_t ky = 0; count > 0 && ky < s.kernel; ++ky) {
      // The end of a filter's row is filled up with zeros, so whole vectors may be added.
      cpu::sum_terms(by_place_.data() + starts_[place], count, weight_.get(0) + ky * at.run,
                     to + ky * at.row, at.run, true);
    }
  }
  for (std::size_t row = 0; row < s.height; ++row) {
    cpu::transpose(pixels + (row + s.padding) * at.row + s.padding * s.in, s.in, s.in, s.width,
                   dx + row * s.width, s.height * s.width);
  }
}

void PooledConvBackward::lay_out_weight(const Layout& at, const float* weight) {
  const ConvSizes& s = at.s;
  const std::size_t squares = s.kernel * s.kernel;
  float* to = weight_.get(s.out * at.filter + kSlack);
  std::fill_n(to, s.out * at.filter, 0.0F);
  for (std::size_t channel = 0; channel < s.out; ++channel, to += at.filter) {
    for (std::size_t in = 0; in < s.in; ++in, weight += squares) {
      for (std::size_t i = 0; i < squares; ++i) {
        to[i / s.kernel * at.run + i % s.kernel * s.in + in] = weight[i];
      }
    }
  }
}

void PooledConvBackward::put_gradients(const Layout& at, const ConvBackward& pass) {
  const ConvSizes& s = at.s;
  const bool add = pass.into == Into::kAdd;
  for (std::size_t i = 0; !pass.dbias.empty() && i < s.out; ++i) {
    float* to = pass.dbias.as<float>() + i;
    *to = add ? *to + dbias_[i] : dbias_[i];
  }
  if (pass.dweight.empty()) {
    return;
  }
  const std::size_t squares = s.kernel * s.kernel;
  const float* from = dweight_.get(0);
  float* to = pass.dweight.as<float>();
  for (std::size_t channel = 0; channel < s.out; ++channel, from += at.filter) {
    for (std::size_t in = 0; in < s.in; ++in, to += squares) {
      for (std::size_t i = 0; i < squares; ++i) {
        const float value = from[i / s.kernel * at.run + i % s.kernel * s.in + in];
        to[i] = add ? to[i] + value : value;
      }
    }
  }
}

}  // namespace shoal::ops
