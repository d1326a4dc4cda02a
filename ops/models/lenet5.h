#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// LeNet-5 as it is used today (ReLU, max pooling, a dense second convolution): 61,706 parameters
/// on 28x28 images, which are padded to 32x32, and 10 classes. Source: LeCun et al.,
/// "Gradient-based learning applied to document recognition", 1998.
ModelEntry lenet5_entry();

}  // namespace shoal::ops
