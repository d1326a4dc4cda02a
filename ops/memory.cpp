#include "ops/memory.h"

#include <algorithm>
#include <array>

#include "ops/cpu/cpu_conv.h"
#include "ops/cuda/cuda_conv.h"

namespace shoal::ops {
namespace {

using Node = Architecture::Node;

struct Span {
  std::size_t begin;
  std::size_t end;
};

Span layers_of(const Architecture& architecture, const MemoryQuestion& question) {
  return {question.first_layer,
          question.end_layer == 0 ? architecture.nodes().size() : question.end_layer};
}

std::uint64_t saved(const Node& node, std::uint64_t samples) {
  return node.plan.saved_elements * samples + node.plan.saved_fixed;
}

/// Reals remembered between forward and backward by all passes, and of the segment at work.
std::uint64_t activation_reals(const std::vector<Node>& nodes, Span span,
                               const MemoryQuestion& question) {
  const std::uint64_t samples = question.micro_batch;
  std::uint64_t of_pass = 0;
  std::vector<std::uint64_t> again;  // by position in a segment, the largest of all segments
  auto segment = question.recompute.begin();
  for (std::size_t i = span.begin; i < span.end; ++i) {
    if (segment != question.recompute.end() && i >= segment->begin) {
      const std::size_t position = i - segment->begin;
      again.resize(std::max(again.size(), position + 1));
      again[position] = std::max(again[position], saved(nodes[i], samples));
      if (i + 1 == segment->end) {
        of_pass += nodes[i].plan.output.shape.elements() * samples;
        ++segment;
      }
    } else {
      of_pass += saved(nodes[i], samples);
    }
  }
  std::uint64_t total = of_pass * question.in_flight;
  for (const auto reals : again) {
    total += reals;
  }
  return total;
}

/// The two buffers that gradients of activations alternate between, as backward takes them.
struct GradientBuffers {
  std::array<std::uint64_t, 2> reals = {0, 0};
  std::size_t holder = 1;  // the first gradient lies elsewhere, and the next takes buffer 0

  /// A layer with all in it; `wanted`: something before it learns.
  void pass(const LayerPlan& plan, const Shape& input, bool wanted, std::uint64_t samples) {
    for (std::size_t i = plan.inner.size(); i-- > 0;) {
      const auto& inner = plan.inner[i];
      const bool learns =
          std::any_of(plan.inner.begin(), plan.inner.begin() + static_cast<std::ptrdiff_t>(i),
                      [](const LayerPlan& p) { return !p.params.empty(); });
      pass(inner, inner.inner_input, wanted || learns, samples);
    }
    if (wanted && !plan.gradient_in_place) {
      holder = 1 - holder;
      reals[holder] = std::max<std::uint64_t>(reals[holder], input.elements() * samples);
    }
  }
};

/// Reals of those, and the most that a layer takes beside them.
std::uint64_t workspace_reals(const std::vector<Node>& nodes, Span span, std::uint64_t samples) {
  const auto learns = [](const Node& node) { return !node.plan.params.empty(); };
  const auto first =
      static_cast<std::size_t>(std::find_if(nodes.begin(), nodes.end(), learns) - nodes.begin());
  GradientBuffers buffers;
  std::uint64_t scratch = 0;
  for (std::size_t i = span.end; i-- > span.begin;) {
    const auto& plan = nodes[i].plan;
    scratch =
        std::max<std::uint64_t>(scratch, plan.scratch_elements * samples + plan.scratch_fixed);
    buffers.pass(plan, nodes[i].input.shape, i > first, samples);
  }
  return buffers.reals[0] + buffers.reals[1] + scratch;
}

/// Reals of all that a pass takes and does not remember.
std::uint64_t transient_reals(const std::vector<Node>& nodes, Span span,
                              const MemoryQuestion& question) {
  const std::uint64_t samples = question.micro_batch;
  const Shape& output = nodes[span.end - 1].plan.output.shape;
  std::uint64_t reals = workspace_reals(nodes, span, samples);
  reals += question.in_flight * output.elements() * samples;
  if (question.device != DeviceKind::kCpu) {
    reals += question.in_flight * nodes[span.begin].input.shape.elements() * samples;
  }
  if (span.end == nodes.size()) {
    reals += 3 * output.rows() * samples;  // loss, hit and target of each row
  }
  return reals;
}

/// A device keeps memory for convolutions, and each uses what the one before left: of every kind of
/// memory the largest counts.
class ConvMemory {
 public:
  ConvMemory(const std::vector<Node>& nodes, Span span, const MemoryQuestion& question)
      : device_(question.device), samples_(question.micro_batch) {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      pass(nodes[i].plan);
    }
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t total = 0;
    for (const std::uint64_t kind : largest_) {
      total += kind;
    }
    return total;
  }

 private:
  void pass(const LayerPlan& plan) {
    for (const auto& inner : plan.inner) {
      pass(inner);
    }
    if (plan.conv.batch == 0) {
      return;
    }
    ConvSizes sizes = plan.conv;
    sizes.batch = samples_;
    const auto needed = device_ == DeviceKind::kCpu ? CpuConvOps::scratch_bytes(sizes)
                                                    : CudaConvOps::scratch_bytes(sizes);
    largest_.resize(std::max(largest_.size(), needed.size()));
    for (std::size_t kind = 0; kind < needed.size(); ++kind) {
      largest_[kind] = std::max<std::uint64_t>(largest_[kind], needed[kind]);
    }
  }

  DeviceKind device_;
  std::size_t samples_;
  std::vector<std::uint64_t> largest_;
};

std::uint64_t device_bytes(const std::vector<Node>& nodes, Span span,
                           const MemoryQuestion& question) {
  const std::uint64_t staging = question.device == DeviceKind::kCpu ? 0 : SHOAL_CUDA_STAGING_BYTES;
  return staging + ConvMemory(nodes, span, question).bytes();
}

/// The dry run of one training, asked many times: what no question changes is computed once.
class Totals {
 public:
  Totals(const TrainingShape& training, const MemoryQuestion& question)
      : nodes_(training.architecture.nodes()), span_(layers_of(training.architecture, question)) {
    const auto plan = plan_memory(training, question);
    fixed_ = plan.total() - plan.activations - plan.workspace - plan.device;
  }
  [[nodiscard]] std::uint64_t operator()(const MemoryQuestion& question) const {
    return fixed_ + device_bytes(nodes_, span_, question) +
           sizeof(float) * (activation_reals(nodes_, span_, question) +
                            transient_reals(nodes_, span_, question));
  }

 private:
  const std::vector<Node>& nodes_;
  Span span_;
  std::uint64_t fixed_ = 0;
};

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB";
}

/// What may be computed again: layers with no staged effects.
bool repeatable(const Node& node) { return node.plan.buffers.empty(); }

/// A window, what it frees per pass and what it costs.
struct Candidate {
  Segment segment;
  double freed = 0;
  double flops = 0;
};

std::vector<Candidate> windows(const std::vector<Node>& nodes, Span span, std::size_t length,
                               std::uint64_t samples) {
  std::vector<Candidate> found;
  for (std::size_t i = span.begin; i < span.end;) {
    Candidate candidate;
    std::size_t end = i;
    while (end < span.end && end - i < length && repeatable(nodes[end])) {
      candidate.freed += static_cast<double>(saved(nodes[end], samples));
      candidate.flops += static_cast<double>(nodes[end].plan.forward_flops * samples);
      ++end;
    }
    if (end > i) {
      candidate.freed -= static_cast<double>(nodes[end - 1].plan.output.shape.elements() * samples);
      candidate.segment = {i, end};
      if (candidate.freed > 0) {
        found.push_back(candidate);
      }
    }
    i = std::max(end, i + 1);
  }
  // freed/flops falling, without dividing by what may be 0.
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.freed * b.flops > b.freed * a.flops;
  });
  return found;
}

}  // namespace

MemoryPlan plan_memory(const TrainingShape& training, const MemoryQuestion& question) {
  const auto& architecture = training.architecture;
  const auto& nodes = architecture.nodes();
  const Span span = layers_of(architecture, question);
  const FlatSpace space = architecture.space(span.begin, span.end);
  const auto& optimizer = training.optimizer;
  const std::uint64_t scratch =
      optimizer.scratch_reals == nullptr ? 0 : optimizer.scratch_reals(space);
  MemoryPlan plan;
  plan.parameters = space.size() * sizeof(float);
  plan.gradients = plan.parameters;
  plan.optimizer =
      plan.parameters * optimizer.state_reals(training.optimizer_options) + scratch * sizeof(float);
  plan.buffers = architecture.map().buffer_size() * sizeof(float);
  plan.activations = activation_reals(nodes, span, question) * sizeof(float);
  plan.workspace = transient_reals(nodes, span, question) * sizeof(float);
  plan.device = device_bytes(nodes, span, question);
  return plan;
}

Result<std::size_t> fit_micro_batch(const TrainingShape& training, MemoryQuestion question,
                                    std::size_t batch, std::uint64_t budget) {
  SHOAL_CHECK(batch > 0, "a batch has samples");
  const Totals total(training, question);
  std::uint64_t needed = 0;
  for (std::size_t passes = 1; passes <= batch; ++passes) {
    const std::size_t samples = (batch + passes - 1) / passes;
    if (samples == question.micro_batch && passes > 1) {
      continue;
    }
    question.micro_batch = samples;
    needed = total(question);
    if (needed <= budget) {
      return samples;
    }
  }
  return device_error("training takes " + mebibytes(needed) +
                      " even one sample at a time, but only " + mebibytes(budget) +
                      " may be used; take a smaller model, recompute, or allow more memory");
}

Result<std::vector<Segment>> fit_recompute(const TrainingShape& training, MemoryQuestion question,
                                           std::uint64_t budget) {
  const auto& nodes = training.architecture.nodes();
  const Span span = layers_of(training.architecture, question);
  question.recompute.clear();
  const Totals total(training, question);
  std::uint64_t least = total(question);
  if (least <= budget) {
    return question.recompute;
  }
  std::vector<Segment> best;
  double best_flops = 0;
  for (std::size_t length = 1; length <= span.end - span.begin; ++length) {
    double flops = 0;
    question.recompute.clear();
    for (const auto& candidate : windows(nodes, span, length, question.micro_batch)) {
      auto& chosen = question.recompute;
      const auto after = [](const Segment& a, const Segment& b) { return a.begin < b.begin; };
      chosen.insert(std::upper_bound(chosen.begin(), chosen.end(), candidate.segment, after),
                    candidate.segment);
      flops += candidate.flops;
      const std::uint64_t needed = total(question);
      least = std::min(least, needed);
      if (needed <= budget) {
        if (best.empty() || flops < best_flops) {
          best = chosen;
          best_flops = flops;
        }
        break;
      }
    }
  }
  if (best.empty()) {
    return device_error("training takes " + mebibytes(least) +
                        " even when layers are computed again, but only " + mebibytes(budget) +
                        " may be used; take a smaller micro-batch or model");
  }
  return best;
}

}  // namespace shoal::ops
