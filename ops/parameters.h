#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/hash.h"
#include "ops/base/result.h"

namespace shoal {

/// Elements between two places where the flat parameter space may be cut.
inline constexpr std::uint64_t kGranule = 4096;

/// Half-open interval of global element coordinates.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// A set of coordinates: sorted, disjoint, non-touching ranges. What exchanges, strategies,
/// checkpoints and re-planning speak, never "the whole buffer".
class Ranges {
 public:
  Ranges() = default;
  explicit Ranges(Range range) { add(range); }

  /// Adds a range and merges it with those it overlaps or touches.
  void add(Range range);
  /// Takes a range out.
  void remove(Range range);
  [[nodiscard]] Ranges intersect(const Ranges& other) const;
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(std::uint64_t coordinate) const;
  [[nodiscard]] const std::vector<Range>& list() const { return ranges_; }
  friend bool operator==(const Ranges&, const Ranges&) = default;

 private:
  std::vector<Range> ranges_;
};

enum class BufferPolicy { kAverage, kCopy, kKeepLocal };

/// One named tensor in the global space.
struct Param {
  std::string name;                 ///< PyTorch style, "fc1.weight"
  std::vector<std::int64_t> shape;  ///< row-major
  std::uint64_t offset = 0;         ///< global element coordinate of its first element
  std::uint64_t elements = 0;       ///< product of the shape
  bool trainable = true;
  bool local = false;  ///< never exchanged
  int tie_group = -1;  ///< parameters of one group share storage; -1 none
};

/// A buffer that is no weight (running statistics, counters); lies in the second array.
struct Buffer {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  ///< element coordinate in the second array
  std::uint64_t elements = 0;
  BufferPolicy policy = BufferPolicy::kKeepLocal;
};

/// The global coordinates of a model's parameters: the same on every peer that builds the same
/// model. Every tensor of at least kGranule elements starts on a granule and owns its granules;
/// smaller ones are packed, in declaration order, in granules of their own that follow all large
/// ones. Padding between the two is never sent, always zero.
class ParamMap {
 public:
  /// Declares a parameter; call `seal()` once after the last.
  /// Errors: kConfig for a duplicate name, an empty shape or a dimension below 1.
  Status add(Param param);
  Status add_buffer(Buffer buffer);
  /// Makes parameter `name` share the storage of `with`, both declared. Gradients of both are added
  /// there. Errors: kConfig when either is not there or their shapes differ.
  Status tie(std::string_view name, std::string_view with);
  /// Lays everything out. After it, `add` is refused.
  void seal();

  [[nodiscard]] const std::vector<Param>& params() const { return params_; }
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }
  [[nodiscard]] const Param* find(std::string_view name) const;

  /// Elements of the flat array, padding included; a multiple of kGranule.
  [[nodiscard]] std::uint64_t flat_size() const { return flat_size_; }
  [[nodiscard]] std::uint64_t buffer_size() const { return buffer_size_; }
  /// The first of those that share the storage of params()[index]; `index` when none do.
  [[nodiscard]] std::size_t first_tied(std::size_t index) const;
  /// Elements that are parameters, padding left out and tied ones counted once.
  [[nodiscard]] std::uint64_t parameter_count() const;

  [[nodiscard]] std::uint64_t granule_count() const { return flat_size_ / kGranule; }
  /// Elements of granule `g` that are parameters (the rest, at its end, is padding); 1..kGranule.
  [[nodiscard]] std::uint32_t granule_elements(std::uint64_t g) const {
    return granule_elements_[static_cast<std::size_t>(g)];
  }
  /// Whether granule `g` packs small tensors, which always travel as fp32.
  [[nodiscard]] bool granule_packed(std::uint64_t g) const { return g >= first_packed_granule_; }
  [[nodiscard]] std::uint64_t first_packed_granule() const { return first_packed_granule_; }

  /// Hash over names, shapes, flags, layout: equal exactly when two peers speak the same space.
  [[nodiscard]] Hash256 model_hash() const;

 private:
  std::vector<Param> params_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> granule_elements_;
  std::uint64_t flat_size_ = 0;
  std::uint64_t buffer_size_ = 0;
  std::uint64_t first_packed_granule_ = 0;
  int tie_groups_ = 0;
  bool sealed_ = false;
};

/// Hash over the per-granule hashes in global order (little-endian float32, padding left out),
/// then the second array. Requires: spans as long as flat_size() and buffer_size().
Hash256 parameter_hash(const ParamMap& map, std::span<const float> parameters,
                       std::span<const float> buffers);

}  // namespace shoal
