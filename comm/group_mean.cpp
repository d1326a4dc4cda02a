#include "comm/group_mean.h"

#include <algorithm>
#include <utility>

#include "comm/round/engine.h"

namespace shoal::comm {

bool RoundRecord::included(std::size_t member) const {
  return std::any_of(contributors.begin(), contributors.end(), [&](const auto& part) {
    return std::find(part.begin(), part.end(), static_cast<std::uint16_t>(member)) != part.end();
  });
}

bool RoundRecord::owed() const {
  const auto has = [](const std::vector<std::uint16_t>& list, std::size_t member) {
    return std::find(list.begin(), list.end(), static_cast<std::uint16_t>(member)) != list.end();
  };
  return std::any_of(next_view.members.begin(), next_view.members.end(), [&](const Member& m) {
    const auto index = view.index_of(m.id);
    if (!index) {
      return view.whole().size() > 0;
    }
    for (std::size_t p = 0; p < view.size(); ++p) {
      if (!view.part(p).empty() && !has(contributors[p], *index) && !has(skipped[p], *index)) {
        return true;
      }
    }
    return false;
  });
}

MayCut cuts_of(std::shared_ptr<const compress::Codec> answer_codec,
               std::shared_ptr<const ParamMap> map) {
  if (!answer_codec->properties().whole_tensor) {
    return nullptr;
  }
  return [codec = std::move(answer_codec), map = std::move(map)](std::uint64_t granule) {
    return compress::may_cut(*codec, *map, granule);
  };
}

GroupMean::GroupMean(Loop& loop, Net& net, GroupHost& host, const ParamMap& map,
                     CodecChoice answer_codec, GroupOptions options, Log log)
    : engine_(std::make_unique<Engine>(loop, net, host, map, std::move(answer_codec),
                                       std::move(options), std::move(log))) {}
GroupMean::~GroupMean() = default;

void GroupMean::start(std::uint64_t branch, View first_view, std::uint64_t committed_round,
                      Hash256 parent) {
  engine_->start(branch, std::move(first_view), committed_round, parent);
}
Task<Result<std::uint64_t>> GroupMean::enter(double speed) { return engine_->enter(speed); }
Task<Result<Mean>> GroupMean::mean(std::span<const float> x, double weight, CodecChoice codec) {
  return engine_->mean(x, weight, std::move(codec));
}
bool GroupMean::owed() const { return engine_->owed(); }
Task<Result<Mean>> GroupMean::flush(CodecChoice codec) {
  return engine_->mean({}, 0, std::move(codec));
}
Task<bool> GroupMean::settled() { return engine_->settled(); }
Task<void> GroupMean::finish(Duration linger) { return engine_->finish(linger); }
void GroupMean::leave(const std::string& reason) { engine_->leave(reason); }

const View& GroupMean::view() const { return engine_->view(); }
std::uint64_t GroupMean::branch() const { return engine_->branch(); }
std::uint64_t GroupMean::next_round() const { return engine_->next_round(); }
std::uint64_t GroupMean::committed_round() const { return engine_->committed_round(); }
Hash256 GroupMean::committed_hash() const { return engine_->committed_hash(); }
double GroupMean::committed_work() const { return engine_->committed_work(); }
const GroupStats& GroupMean::stats() const { return engine_->stats(); }
const compress::Carry& GroupMean::carry() const { return engine_->carry(); }
std::span<const float> GroupMean::owner_residual() const { return engine_->owner_residual(); }
void GroupMean::save_private(ByteWriter& out) const { engine_->save_private(out); }
Status GroupMean::load_private(ByteReader& in) { return engine_->load_private(in); }
Bytes GroupMean::codec_state() const { return engine_->codec_state(); }
Status GroupMean::load_codec_state(ByteSpan bytes) { return engine_->load_codec_state(bytes); }

void GroupMean::on_message(const PeerId& from, const Message& message) {
  engine_->on_message(from, message);
}
void GroupMean::on_alive(const PeerId& peer, bool alive) { engine_->on_alive(peer, alive); }

}  // namespace shoal::comm
