#include "ops/memory.h"

#include <algorithm>

namespace shoal::ops {

MemoryPlan plan_memory(const Architecture& architecture, const MemoryQuestion& question,
                       const OptimizerEntry& optimizer, const Options& optimizer_options) {
  const auto& nodes = architecture.nodes();
  const auto end = question.end_layer == 0 ? nodes.size() : question.end_layer;
  const bool whole = question.first_layer == 0 && end == nodes.size();
  const std::uint64_t reals = whole ? architecture.map().flat_size()
                                    : architecture.layer_ranges(question.first_layer, end).size();
  MemoryPlan plan;
  plan.parameters = reals * sizeof(float);
  plan.gradients = plan.parameters;
  plan.optimizer = plan.parameters * optimizer.state_reals(optimizer_options);
  plan.buffers = architecture.map().buffer_size() * sizeof(float);
  std::uint64_t saved = 0;
  std::uint64_t widest = 0;
  for (std::size_t i = question.first_layer; i < end; ++i) {
    saved += nodes[i].plan.saved_elements;
    widest = std::max<std::uint64_t>(widest, nodes[i].input.shape.elements());
  }
  const std::uint64_t sample_bytes = sizeof(float) * question.micro_batch;
  plan.activations = saved * sample_bytes * question.in_flight;
  const std::uint64_t in = nodes[question.first_layer].input.shape.elements();
  const std::uint64_t out = nodes[end - 1].plan.output.shape.elements();
  plan.workspace = (question.in_flight * (in + out) + 2 * widest) * sample_bytes;
  return plan;
}

}  // namespace shoal::ops
