#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// Two 5x5 convolutions (32, 64 channels), each with 2x2 max pooling, and a layer of 512: 1,663,370
/// parameters on 28x28 images and 10 classes.
/// Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized
/// data", arXiv 1602.05629, section 3.
ModelEntry cnn_entry();

}  // namespace shoal::ops
