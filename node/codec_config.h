#pragma once

#include "comm/codec_choice.h"
#include "node/config.h"
#include "node/config_schema.h"
#include "ops/base/clock.h"

namespace shoal::node {

/// "auto": no codec of its own, but the choice between some, link by link.
PluginSpec auto_codec();

/// What the configuration says of kind "codec" or "answer". Offers of "auto" are measured with
/// `clock`; without one, costs are nominal.
/// Errors: kConfig for an unknown candidate, or one that can't be changed from round to round.
Result<comm::CodecChoice> configured_codec(const Config& config, const char* kind,
                                           const Clock* clock = nullptr);

/// The one to plan bytes and memory with: of "auto" the first, which is the largest.
Result<std::shared_ptr<const compress::Codec>> planned_codec(const Config& config,
                                                             const char* kind);

}  // namespace shoal::node
