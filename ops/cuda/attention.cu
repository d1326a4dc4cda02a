#include <cmath>

#include "ops/cuda/blas.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/sequence_table.h"
#include "ops/kernels/attention.h"

// Tiles of queries as on the CPU; the heads of a sequence are one batch of products.
namespace {

namespace kernels = shoal::ops::kernels;
using shoal::ops::cuda::launch;
using shoal::ops::cuda::product;

/// Memory for the weights of a tile, and for their gradients; kept for the next call.
int32_t tile_memory(ShoalCudaStream* stream, size_t count, float** out) {
  if (stream->tile_count < count) {
    cudaStreamSynchronize(stream->queue);
    cudaFree(stream->tile);
    stream->tile = nullptr;
    stream->tile_count = 0;
    if (const auto status = cudaMalloc(&stream->tile, count * sizeof(float))) {
      cudaGetLastError();  // an allocation that failed is no fault of what comes after
      return status;
    }
    stream->tile_count = count;
  }
  *out = stream->tile;
  return 0;
}

/// A tile of queries of all heads of one sequence.
struct Tile {
  ShoalCudaStream* stream;
  const ShoalCudaAttention& run;
  size_t first;  // query, of the sequence
  size_t rows;
  size_t sequence;

  size_t keys() const { return first + rows; }
  size_t width() const { return run.heads * run.head_width; }
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(run.head_width)); }
  size_t qkv_at() const { return sequence * run.length * 3 * width(); }
  size_t y_at() const { return (sequence * run.length + first) * width(); }
  float* log_sums() const { return run.log_sums + sequence * run.heads * run.length + first; }

  /// out [heads, rows, keys] = a b^T over the width of a head.
  int32_t scores(const float* a, size_t stride, const float* b, float* out) const {
    return product(stream, {a, stride, false, run.head_width},
                   {b, 3 * width(), true, run.head_width}, {out, keys(), false, rows * keys()},
                   rows, keys(), run.head_width, run.heads);
  }
  /// out [rows or keys, head width] of each head from weights [rows, keys] and rows of b.
  int32_t gather(const float* weights, bool transposed, const float* b, size_t b_stride, float* out,
                 size_t out_stride, bool add) const {
    return product(stream, {weights, keys(), transposed, rows * keys()},
                   {b, b_stride, false, run.head_width}, {out, out_stride, add, run.head_width},
                   transposed ? keys() : rows, run.head_width, transposed ? rows : keys(),
                   run.heads);
  }
};

int32_t forward_tile(const Tile& t, float* weights) {
  const ShoalCudaAttention& run = t.run;
  const size_t stride = 3 * t.width();
  const float* q = run.qkv + t.qkv_at();
  if (const auto status = t.scores(q + t.first * stride, stride, q + t.width(), weights)) {
    return status;
  }
  if (const auto status =
          launch(t.stream, t.rows * run.heads,
                 kernels::AttentionWeights<float>{weights, t.log_sums(), t.rows, t.keys(), t.keys(),
                                                  t.first, run.length, t.scale()})) {
    return status;
  }
  return t.gather(weights, false, q + 2 * t.width(), stride, run.y + t.y_at(), t.width(), false);
}

/// `add`: a later tile has put gradients of these keys already.
int32_t backward_tile(const Tile& t, float* weights, bool add) {
  const ShoalCudaAttention& run = t.run;
  const size_t stride = 3 * t.width();
  const float* q = run.qkv + t.qkv_at();
  const float* k = q + t.width();
  const float* dy = run.dy + t.y_at();
  float* dq = run.dqkv + t.qkv_at();
  float* dweights = weights + run.heads * t.rows * t.keys();
  int32_t status = t.scores(q + t.first * stride, stride, k, weights);
  status = status != 0 ? status : t.scores(dy, t.width(), k + t.width(), dweights);
  status = status != 0
               ? status
               : launch(t.stream, t.rows * run.heads,
                        kernels::AttentionWeightsBackward<float>{
                            weights, dweights, t.log_sums(), run.y + t.y_at(), dy, t.rows, t.keys(),
                            t.keys(), t.first, run.length, run.head_width, t.width(), t.scale()});
  status = status != 0 ? status
                       : t.gather(dweights, false, k, stride, dq + t.first * stride, stride, false);
  status = status != 0 ? status
                       : t.gather(dweights, true, q + t.first * stride, stride, dq + t.width(),
                                  stride, add);
  return status != 0 ? status
                     : t.gather(weights, true, dy, t.width(), dq + 2 * t.width(), stride, add);
}

/// Calls each(tile) for the tiles of all sequences, those of a sequence from last to first.
template <typename Each>
int32_t for_each_tile(ShoalCudaStream* stream, const ShoalCudaAttention& run, const Each& each) {
  if (const auto status = shoal::ops::cuda::enter(stream)) {
    return status;
  }
  for (size_t sequence = 0; sequence < run.batch; ++sequence) {
    for (size_t end = run.length; end > 0;) {
      const size_t first = (end - 1) / kernels::kAttentionTile * kernels::kAttentionTile;
      if (const auto status = each(Tile{stream, run, first, end - first, sequence})) {
        return status;
      }
      end = first;
    }
  }
  return 0;
}

}  // namespace

int32_t shoal_cuda_attention(ShoalCudaStream* stream, const ShoalCudaAttention* run) {
  float* memory = nullptr;
  const size_t count = run->heads * kernels::kAttentionTile * run->length;
  if (const auto status = tile_memory(stream, count, &memory)) {
    return status;
  }
  return for_each_tile(stream, *run, [=](const Tile& tile) { return forward_tile(tile, memory); });
}

int32_t shoal_cuda_attention_backward(ShoalCudaStream* stream, const ShoalCudaAttention* run) {
  float* memory = nullptr;
  const size_t count = 2 * run->heads * kernels::kAttentionTile * run->length;
  if (const auto status = tile_memory(stream, count, &memory)) {
    return status;
  }
  return for_each_tile(stream, *run, [=](const Tile& tile) {
    return backward_tile(tile, memory, tile.keys() < run->length);
  });
}
