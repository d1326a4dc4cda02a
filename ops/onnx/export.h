#pragma once

#include <span>
#include <string>

#include "ops/architecture.h"
#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::ops::onnx {

/// A model as an ONNX file: "input" [batch, input...] (f32, or i64 for tokens) -> "output"
/// [batch, output...], what the loss takes (logits), in eval mode. Weights keep their names.
/// Requires: arrays as long as flat_size() and buffer_size() (checked).
/// Errors: kConfig, naming the layer that ONNX has no form for.
Result<Bytes> export_model(const Architecture& architecture, const std::string& name,
                           std::span<const float> parameters, std::span<const float> buffers);

}  // namespace shoal::ops::onnx
