#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// Residual networks for 32x32 images with group norm, whose statistics need no exchange.
/// Parameters are named as torchvision's, with gn for bn. Source: He et al., "Deep residual
/// learning for image recognition", arXiv 1512.03385, section 4.2 (ResNet-8: one block a stage, 16
/// to 64 channels: 78,042 parameters for 3 channels and 10 classes) and table 1 (ResNet-18: two
/// blocks, 64 to 512; a 3x3 stem without pooling, as is usual at this size: 11,173,962); shortcuts
/// that change the shape are projections.
ModelEntry resnet8_entry();
ModelEntry resnet18_entry();

}  // namespace shoal::ops
