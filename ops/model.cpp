#include "ops/model.h"

#include <algorithm>

namespace shoal::ops {

std::size_t Pass::bytes() const {
  std::size_t total = input_.bytes() + output_gradient_.bytes();
  for (const auto& saved : saved_) {
    total += saved.bytes();
  }
  for (const auto& ends : ends_) {
    total += ends.output.bytes();
  }
  return total;
}

Result<std::unique_ptr<Model>> Model::make(std::shared_ptr<const Architecture> architecture,
                                           Backend& backend, std::uint64_t seed) {
  const std::size_t layers = architecture->nodes().size();
  return make_slice(std::move(architecture), 0, layers, backend, seed);
}

Result<std::unique_ptr<Model>> Model::make_slice(std::shared_ptr<const Architecture> architecture,
                                                 std::size_t begin, std::size_t end,
                                                 Backend& backend, std::uint64_t seed) {
  SHOAL_CHECK(begin < end && end <= architecture->nodes().size(), "a slice lies in the model");
  std::unique_ptr<Model> model(new Model());
  model->architecture_ = std::move(architecture);
  model->backend_ = &backend;
  model->begin_ = begin;
  model->end_ = end;
  model->seed_ = seed;
  SHOAL_TRY(model->allocate(seed));
  SHOAL_ASSIGN(model->loss_, model->architecture_->make_loss());
  model->bind();
  model->index_below_ = model->bound_of_integers();
  const auto& nodes = model->architecture_->nodes();
  const auto first = std::find_if(nodes.begin(), nodes.end(),
                                  [](const auto& node) { return !node.plan.params.empty(); });
  model->first_with_params_ = static_cast<std::size_t>(first - nodes.begin());
  return model;
}

std::int64_t Model::bound_of_integers() const {
  std::int64_t bound = 0;
  for (std::size_t i = begin_; i < end_ && architecture_->nodes()[i].input.index; ++i) {
    const std::int64_t here = architecture_->nodes()[i].plan.index_below;
    bound = bound == 0 || (here > 0 && here < bound) ? here : bound;
  }
  return bound;
}

bool Model::whole() const { return begin_ == 0 && end_ == architecture_->nodes().size(); }

Status Model::allocate(std::uint64_t seed) {
  const FlatSpace space = architecture_->space(begin_, end_);
  SHOAL_ASSIGN(parameters_, FlatArray::make(*backend_, space));
  SHOAL_ASSIGN(gradients_, FlatArray::make(*backend_, space));
  SHOAL_ASSIGN(buffers_,
               FlatArray::make(*backend_, FlatSpace(Ranges(Range{0, map().buffer_size()}))));
  for (std::size_t i = 0; i < map().params().size(); ++i) {
    const auto& param = map().params()[i];
    const Range range{param.offset, param.offset + param.elements};
    if (space.holds(range)) {
      std::vector<float> values(static_cast<std::size_t>(param.elements));
      const std::size_t first = map().first_tied(i);
      initialize(map().params()[first].name, architecture_->init(first), seed, values);
      parameters_.write(range, values);
    }
  }
  buffers_.write({0, map().buffer_size()}, architecture_->initial_buffers());
  return backend_->finish();
}

void Model::bind() {
  for (std::size_t i = begin_; i < end_; ++i) {
    const auto& node = architecture_->nodes()[i];
    Bound bound;
    for (std::size_t p = 0; p < node.plan.params.size(); ++p) {
      const auto& param = map().params()[node.first_param + p];
      const Range range{param.offset, param.offset + param.elements};
      const Shape& shape = node.plan.params[p].shape;
      bound.params.push_back(parameters_.view(range, shape));
      bound.grads.push_back(param.trainable ? gradients_.view(range, shape) : TensorView());
    }
    for (std::size_t b = 0; b < node.plan.buffers.size(); ++b) {
      const auto& buffer = map().buffers()[node.first_buffer + b];
      const Range range{buffer.offset, buffer.offset + buffer.elements};
      bound.buffers.push_back(buffers_.view(range, node.plan.buffers[b].shape));
    }
    const auto of_layer = std::span(map().params()).subspan(node.first_param, bound.params.size());
    tied_.push_back(std::any_of(of_layer.begin(), of_layer.end(),
                                [](const Param& p) { return p.tie_group >= 0; }));
    bound_.push_back(std::move(bound));
  }
}

void Model::set_recompute(std::vector<Segment> segments) {
  std::size_t from = begin_;
  std::size_t longest = 0;
  for (const auto& s : segments) {
    SHOAL_CHECK(from <= s.begin && s.begin < s.end && s.end <= end_, "segments are in order");
    for (std::size_t i = s.begin; i < s.end; ++i) {
      SHOAL_CHECK(architecture_->nodes()[i].plan.buffers.empty(),
                  "a layer with buffers is not computed twice");
    }
    longest = std::max(longest, s.end - s.begin);
    from = s.end;
  }
  segments_ = std::move(segments);
  again_ = std::vector<Saved>(longest);
  own_pass_ = Pass();
}

Hash256 Model::hash() const {
  SHOAL_CHECK(whole(), "only a whole model has the hash of the run");
  std::vector<float> parameters(static_cast<std::size_t>(map().flat_size()));
  std::vector<float> buffers(static_cast<std::size_t>(map().buffer_size()));
  parameters_.read({0, map().flat_size()}, parameters);
  buffers_.read({0, map().buffer_size()}, buffers);
  return parameter_hash(map(), parameters, buffers);
}

Ctx Model::context(const PassInfo& info, std::size_t layer, Into into) {
  const auto& bound = bound_[layer - begin_];
  Ctx ctx;
  ctx.mode = info.mode;
  ctx.step = info.step;
  ctx.micro_batch = info.micro_batch;
  ctx.rng = Rng(mix(seed_, layer), mix(info.step, info.micro_batch));
  ctx.backend = backend_;
  ctx.workspace = &workspace_;
  ctx.plan = &architecture_->nodes()[layer].plan;
  ctx.params = bound.params;
  ctx.grads = bound.grads;
  ctx.buffers = bound.buffers;
  ctx.gradients_into = into;
  ctx.input_gradient = layer > first_with_params_;
  return ctx;
}

Result<TensorView> Model::forward(const PassInfo& info, ConstTensorView x, Pass& pass) {
  const Port& port = architecture_->nodes()[begin_].input;
  const bool fits = x.shape.rank() == port.shape.rank() + 1 &&
                    x.shape.without_batch() == port.shape &&
                    (x.dtype == DType::kI32) == port.index && x.device == DeviceKind::kCpu;
  if (!fits) {
    return data_error("the model takes samples of shape " + port.shape.text() +
                      ", but the batch has shape " + x.shape.text());
  }
  if (index_below_ > 0) {
    SHOAL_TRY(judge_integers(x));
  }
  pass.saved_.resize(end_ - begin_);
  const DType dtype = port.index ? DType::kI32 : backend_->real();
  TensorView y;
  if (backend_->device() == DeviceKind::kCpu && x.dtype == dtype) {
    // No layer writes to its input, so the caller's memory serves as it is.
    y = TensorView(const_cast<void*>(x.data), x.shape, x.dtype);
  } else {
    SHOAL_ASSIGN(y, pass.input_.get(*backend_, dtype, x.shape));
    backend_->upload(x, y);
  }
  pass.ends_.resize(segments_.size());
  auto segment = segments_.begin();
  for (std::size_t i = begin_; i < end_; ++i) {
    if (segment == segments_.end() || i != segment->begin) {
      SHOAL_ASSIGN(y, run_layer(info, i, y, pass.saved_[i - begin_]));
      continue;
    }
    auto& ends = pass.ends_[static_cast<std::size_t>(segment - segments_.begin())];
    ends.input = y;
    SHOAL_ASSIGN(const TensorView last, run_segment(info, *segment, y));
    SHOAL_ASSIGN(y, ends.output.get(*backend_, last.dtype, last.shape));
    backend_->copy(last, y);
    i = segment->end - 1;
    ++segment;
  }
  return y;
}

Result<TensorView> Model::run_layer(const PassInfo& info, std::size_t layer, TensorView x,
                                    Saved& saved) {
  Ctx ctx = context(info, layer, Into::kReplace);
  ctx.workspace = &forward_workspace_;
  saved.input = x;
  return architecture_->nodes()[layer].layer->forward(ctx, x, saved);
}

Result<TensorView> Model::run_segment(const PassInfo& info, const Segment& segment, TensorView x) {
  for (std::size_t i = segment.begin; i < segment.end; ++i) {
    SHOAL_ASSIGN(x, run_layer(info, i, x, again_[i - segment.begin]));
  }
  return x;
}

void Model::clear_tied_gradients() {
  // Two layers give a gradient to one place, and the first to do so would be replaced by the other.
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    for (const auto& gradient : bound_[i].grads) {
      if (tied_[i] && !gradient.empty()) {
        backend_->zero(gradient);
      }
    }
  }
}

Status Model::judge_integers(const ConstTensorView& x) const {
  for (const auto value : x.span<std::int32_t>()) {
    if (value < 0 || value >= index_below_) {
      return data_error("a sample holds " + std::to_string(value) + ", but the model knows " +
                        std::to_string(index_below_) + " integers (from 0)");
    }
  }
  return {};
}

Result<TensorView> Model::backward(const PassInfo& info, TensorView dy, Pass& pass, Into into) {
  SHOAL_CHECK(pass.saved_.size() == end_ - begin_, "backward follows forward of the same pass");
  if (into == Into::kReplace) {
    clear_tied_gradients();
  }
  std::size_t ahead = segments_.size();  // segments that backward has not met
  for (std::size_t i = end_; i-- > begin_;) {
    if (ahead > 0 && i + 1 == segments_[ahead - 1].end) {
      --ahead;
      SHOAL_TRY(run_segment(info, segments_[ahead], pass.ends_[ahead].input));
    }
    const bool again =
        ahead < segments_.size() && i >= segments_[ahead].begin && i < segments_[ahead].end;
    Saved& saved = again ? again_[i - segments_[ahead].begin] : pass.saved_[i - begin_];
    SHOAL_ASSIGN(dy, architecture_->nodes()[i].layer->backward(
                         context(info, i, tied_[i - begin_] ? Into::kAdd : into), dy, saved));
    if (dy.empty()) {
      break;
    }
  }
  SHOAL_TRY(backend_->finish());
  return dy;
}

void Model::end_step(const PassInfo& info, Pass& pass) {
  for (std::size_t i = begin_; i < end_; ++i) {
    const auto& node = architecture_->nodes()[i];
    if (!node.plan.buffers.empty()) {  // nothing else is staged
      node.layer->step(context(info, i, Into::kReplace), pass.saved_[i - begin_]);
    }
  }
}

Result<BatchResult> Model::loss(ConstTensorView output, ConstTensorView targets, double scale,
                                TensorView doutput) {
  SHOAL_CHECK(end_ == architecture_->nodes().size(), "the last layer is held");
  return loss_->evaluate(*backend_, output, targets, scale, doutput);
}

Result<BatchResult> Model::train_batch(const PassInfo& info, ConstTensorView x,
                                       ConstTensorView targets, double gradient_scale, Into into) {
  SHOAL_ASSIGN(const TensorView y, forward(info, x, own_pass_));
  SHOAL_ASSIGN(const TensorView dy,
               own_pass_.output_gradient_.get(*backend_, backend_->real(), y.shape));
  SHOAL_ASSIGN(const BatchResult result, loss(y, targets, gradient_scale, dy));
  SHOAL_TRY(backward(info, dy, own_pass_, into));
  end_step(info, own_pass_);
  return result;
}

Result<BatchResult> Model::evaluate_batch(ConstTensorView x, ConstTensorView targets) {
  PassInfo info;
  info.mode = Mode::kEval;
  SHOAL_ASSIGN(const TensorView y, forward(info, x, own_pass_));
  return loss(y, targets, 0, TensorView());
}

std::size_t Model::working_bytes() const {
  std::size_t total = own_pass_.bytes() + workspace_.bytes() + forward_workspace_.bytes();
  for (const auto& saved : again_) {
    total += saved.bytes();
  }
  return total;
}

Result<BatchResult> evaluate(Model& model, ConstTensorView x, ConstTensorView targets,
                             std::size_t batch) {
  SHOAL_CHECK(batch > 0, "a batch has samples");
  BatchResult total;
  const auto samples = static_cast<std::size_t>(x.shape[0]);
  const Shape sample = x.shape.without_batch();
  const std::size_t per_target = samples == 0 ? 0 : targets.elements() / samples;
  for (std::size_t i = 0; i < samples; i += batch) {
    const std::size_t n = std::min(batch, samples - i);
    const auto part =
        x.slice(i * sample.elements(), n * sample.elements()).reshape(sample.with_batch(n));
    SHOAL_ASSIGN(const BatchResult result,
                 model.evaluate_batch(part, targets.slice(i * per_target, n * per_target)));
    total += result;
  }
  return total;
}

}  // namespace shoal::ops
