#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ops/architecture.h"
#include "ops/backend.h"
#include "ops/base/result.h"
#include "ops/flat.h"
#include "ops/layer.h"
#include "ops/loss.h"

namespace shoal::ops {

/// Everything one micro-batch in flight must remember. Used again for the next, it allocates
/// nothing.
class Pass {
 public:
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend class Model;
  std::vector<Saved> saved_;  // one per layer; empty in a segment
  struct Ends {
    TensorView input;
    Scratch output;
  };
  std::vector<Ends> ends_;  // of each segment
  Scratch input_;           // the batch on the device
  Scratch output_gradient_;
};

/// Which pass this is: random layers draw from (seed, layer, step, micro_batch) alone.
struct PassInfo {
  Mode mode = Mode::kTrain;
  std::uint64_t step = 0;
  std::uint32_t micro_batch = 0;
};

/// A chain of layers, or layers [begin, end) of one, over one flat parameter array and one flat
/// gradient array in the order of the map. Threads: the compute thread.
class Model {
 public:
  /// The whole model, parameters initialised from `seed`. Errors: kDevice, kConfig.
  static Result<std::unique_ptr<Model>> make(std::shared_ptr<const Architecture> architecture,
                                             Backend& backend, std::uint64_t seed);
  /// A slice (a pipeline stage). Requires: begin < end <= number of layers (checked).
  static Result<std::unique_ptr<Model>> make_slice(std::shared_ptr<const Architecture> architecture,
                                                   std::size_t begin, std::size_t end,
                                                   Backend& backend, std::uint64_t seed);

  [[nodiscard]] const Architecture& architecture() const { return *architecture_; }
  [[nodiscard]] const ParamMap& map() const { return architecture_->map(); }
  [[nodiscard]] Backend& backend() const { return *backend_; }
  /// Whether all layers are held.
  [[nodiscard]] bool whole() const;
  /// Layers held.
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] std::size_t end() const { return end_; }

  /// Which layers are computed again instead of remembered; none at first. Gradients are the same
  /// to the bit. Not between a forward and its backward. Requires: ascending, apart or touching,
  /// within the layers held, none with buffers, whose staged effects must outlive backward
  /// (checked).
  void set_recompute(std::vector<Segment> segments);

  [[nodiscard]] FlatArray& parameters() { return parameters_; }
  [[nodiscard]] const FlatArray& parameters() const { return parameters_; }
  [[nodiscard]] FlatArray& gradients() { return gradients_; }
  [[nodiscard]] const FlatArray& gradients() const { return gradients_; }
  /// The second array (running statistics); whole even in a slice, which touches its own part.
  [[nodiscard]] FlatArray& buffers() { return buffers_; }
  [[nodiscard]] const FlatArray& buffers() const { return buffers_; }
  /// parameter_hash() of the whole model's state. Requires: not a slice (checked).
  [[nodiscard]] Hash256 hash() const;

  /// Shapes: x [N, input...] on the host -> y [N, output...] on the device, valid until `pass` is
  /// used again. float32 inputs become the backend's reals. Requires: x stays until backward.
  /// Errors: kData for a wrong shape; kDevice.
  [[nodiscard]] Result<TensorView> forward(const PassInfo& info, ConstTensorView x, Pass& pass);
  /// Parameter gradients of one pass, put or added. dy is on the device and may be overwritten.
  /// Returns dx on the device (empty or undefined when no layer before this slice learns).
  /// Errors: kDevice.
  [[nodiscard]] Result<TensorView> backward(const PassInfo& info, TensorView dy, Pass& pass,
                                            Into into);
  /// Applies the side effects that forward staged. Call once a micro-batch, in order.
  void end_step(const PassInfo& info, Pass& pass);

  /// Forward, loss, backward and end_step in one: gradients (+)= gradient_scale * d(loss sum).
  /// With scale = 1/batch, several micro-batches of one batch (the first kReplace, then kAdd) give
  /// the mean gradient of the batch; with scale 1 sums, to be divided by whoever knows the count.
  /// Shapes: x [N, input...] (N may be 0), targets as the loss takes them (Loss::evaluate), both on
  /// the host. Errors: kData (a target out of range, a wrong shape), kDevice. Requires: holds the
  /// last layer (checked).
  [[nodiscard]] Result<BatchResult> train_batch(const PassInfo& info, ConstTensorView x,
                                                ConstTensorView targets, double gradient_scale,
                                                Into into);
  /// Forward in eval mode and loss. Errors: as train_batch.
  [[nodiscard]] Result<BatchResult> evaluate_batch(ConstTensorView x, ConstTensorView targets);
  /// Loss of an output of forward; with doutput, its gradient. Requires: holds the last layer.
  [[nodiscard]] Result<BatchResult> loss(ConstTensorView output, ConstTensorView targets,
                                         double scale, TensorView doutput);

  /// Bytes of activations and scratch that train_batch holds at present.
  [[nodiscard]] std::size_t working_bytes() const;

 private:
  Model() = default;
  Status allocate(std::uint64_t seed);
  void bind();
  [[nodiscard]] std::int64_t bound_of_integers() const;
  [[nodiscard]] Status judge_integers(const ConstTensorView& x) const;
  void clear_tied_gradients();
  [[nodiscard]] Ctx context(const PassInfo& info, std::size_t layer, Into into);
  [[nodiscard]] Result<TensorView> run_layer(const PassInfo& info, std::size_t layer, TensorView x,
                                             Saved& saved);
  [[nodiscard]] Result<TensorView> run_segment(const PassInfo& info, const Segment& segment,
                                               TensorView x);

  /// Views of one layer's parameters, gradients and buffers.
  struct Bound {
    std::vector<TensorView> params;
    std::vector<TensorView> grads;
    std::vector<TensorView> buffers;
  };

  std::shared_ptr<const Architecture> architecture_;
  Backend* backend_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<bool> tied_;             // per held layer: has parameters shared with others
  std::int64_t index_below_ = 0;       // bound of integers that come in; 0: none
  std::size_t first_with_params_ = 0;  // of the whole model; before it nobody needs a gradient
  FlatArray parameters_;
  FlatArray gradients_;
  FlatArray buffers_;
  std::vector<Bound> bound_;  // one per held layer
  Workspace workspace_;
  Workspace forward_workspace_;  // forward may be called again while workspace_ holds a gradient
  std::vector<Segment> segments_;
  std::vector<Saved> again_;  // of the segment at work, by position in it
  std::unique_ptr<Loss> loss_;
  Pass own_pass_;
};

/// Loss and accuracy over n samples in batches of `batch`, eval mode.
/// Shapes: x [n, input...], targets as the loss takes them, on the host. Errors: as
/// evaluate_batch.
Result<BatchResult> evaluate(Model& model, ConstTensorView x, ConstTensorView targets,
                             std::size_t batch);

}  // namespace shoal::ops
