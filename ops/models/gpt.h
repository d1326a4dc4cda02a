#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// The next token after each of a text: a transformer that sees what came before, normalising
/// before each part, with GELU. Blocks are named as PyTorch's TransformerEncoder with norm_first
/// names them ("layers.0.self_attn.in_proj_weight"); wte, wpe and head stand around it.
/// Source: Radford et al., "Language models are unsupervised multitask learners", 2019,
/// section 2.3.
ModelEntry gpt_entry();

}  // namespace shoal::ops
