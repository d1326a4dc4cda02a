#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// The next character after each of a text: embedding, LSTM, scores for every place.
/// Source: McMahan et al., arXiv 1602.05629, section 3 (Shakespeare): 8 numbers a character, two
/// layers of 256.
ModelEntry char_lstm_entry();

}  // namespace shoal::ops
