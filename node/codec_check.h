#pragma once

#include "compress/codec.h"
#include "node/config.h"

namespace shoal::node {

/// Whether what peers send and what owners answer go together: a codec that reads with a state that
/// all peers share, made of the answers, must be both, with the same options.
/// Errors: kConfig, naming the keys.
Status check_codecs(const Config& config, const compress::Codec& sent,
                    const compress::Codec& answered);

}  // namespace shoal::node
