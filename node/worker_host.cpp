// The worker as keeper of the group's state: what the round protocol and checkpoints ask of it.
#include <utility>

#include "node/worker.h"
#include "ops/safetensors.h"

namespace shoal::node {

comm::GroupHost::ControlInput Worker::control(std::uint64_t round) {
  if (control_round_ == round) {
    return control_;  // said once a round, whatever the ballots
  }
  // Rounds to which nobody contributed were no steps.
  const Progress& progress = state_->progress;
  const std::uint64_t fruitful =
      progress.steps / strategy_.round_steps() + (round - progress.round);
  const ops::StepScalars scalars = strategy_.scalars(*state_->optimizer, fruitful);
  control_round_ = round;
  control_.scalars = {scalars.lr, scalars.correction1, scalars.correction2};
  control_.stop = stop_requested_;
  control_.checkpoint = options_.checkpoint_every.count() > 0 &&
                        loop_.now() - last_checkpoint_ >= options_.checkpoint_every;
  if (control_.checkpoint) {
    last_checkpoint_ = loop_.now();
  }
  return control_;
}

std::optional<Bytes> Worker::snapshot() {
  return changing_ ? std::nullopt : std::optional(state_->save());
}

std::optional<Hash256> Worker::state_hash() {
  return changing_ ? std::nullopt : std::optional(state_->hash());
}

Status Worker::restore(const Bytes& snapshot, std::uint64_t round) {
  SHOAL_ASSIGN(std::shared_ptr<SharedState> state, SharedState::load(builder_, snapshot.span()));
  if (state->progress.round != round) {
    return data_error("a state said to be of round " + std::to_string(round) + " is of round " +
                      std::to_string(state->progress.round));
  }
  state_ = std::move(state);  // a job on the compute thread goes on with the old one, in vain
  changing_ = false;
  ++version_;
  return {};
}

Status Worker::resume(const Bytes& shared, std::uint64_t round) {
  SHOAL_TRY(restore(shared, round));
  state_->ledger.return_all();
  if (group_->codec_state().empty()) {
    return {};
  }
  // A checkpoint of another codec holds none: then this one's begins anew, on all members.
  SHOAL_ASSIGN(const ByteSpan saved, SharedState::codec_state_in(shared.span()));
  return saved.empty() ? Status() : group_->load_codec_state(saved);
}

void Worker::capture(std::uint64_t round, const Hash256& hash) {
  ByteWriter out;
  group_->save_private(out);
  private_ = out.take_bytes();
  codec_state_ = group_->codec_state();
  point_ = {round, group_->branch(), hash};
}

void Worker::committed(const comm::RoundRecord& record) {
  // Now or never: what the group holds of ours goes on with the next round.
  if (record.checkpoint || record.stop || ended() || leaving_ || pausing_) {
    capture(record.round, record.hash);
    last_checkpoint_ = loop_.now();
  }
}

comm::Task<Bytes> Worker::private_state() {
  auto job = [trainer = trainer_] {
    ByteWriter out;
    trainer->save_local(out);
    return out.take_bytes();
  };
  const Bytes local = co_await loop_.offload(comm::Offload::kCompute, job, cost(1));
  ByteWriter data;
  data_->save(data);
  ops::safetensors::Writer writer;
  writer.add_bytes("group", private_.span());
  writer.add_bytes("local", local.span());
  writer.add_bytes("data", data.span());
  writer.set_metadata("round", std::to_string(point_.round));
  writer.set_metadata(kChecksumKey, checksum_placeholder());
  ByteWriter out;
  writer.write(out);
  co_return out.take_bytes();
}

comm::Task<Status> Worker::checkpoint() {
  if (checkpoints_ == nullptr || state_->progress.round == 0) {
    co_return Status();
  }
  if (!co_await group_->settled()) {
    co_return network_error("the round did not stand");
  }
  const std::uint64_t round = state_->progress.round;
  if (point_.round != round) {  // no round asked for it: the data have ended, or we leave
    if (group_->committed_round() != round) {
      co_return network_error("the group went on without this peer");
    }
    capture(round, group_->committed_hash());
  }
  // Before the next suspension, in which the group might replace the state.
  const Bytes shared = state_->save({{"branch", std::to_string(point_.branch)},
                                     {"parent", point_.parent.hex()},
                                     {kChecksumKey, checksum_placeholder()}},
                                    codec_state_.span());
  const Bytes own = co_await private_state();
  auto job = [checkpoints = checkpoints_, round, shared, own] {
    return checkpoints->write(round, shared, own);
  };
  co_return co_await loop_.offload(comm::Offload::kIo, job, Duration{0});
}

Status Worker::load_private(ByteSpan bytes) {
  SHOAL_ASSIGN(const ops::safetensors::File file, ops::safetensors::parse(bytes));
  const auto tensor = [&file](const char* name) {
    const auto it = file.tensors.find(name);
    return ByteReader(it == file.tensors.end() ? ByteSpan() : it->second.data);
  };
  ByteReader group = tensor("group");
  SHOAL_TRY(group_->load_private(group));
  ByteReader local = tensor("local");
  SHOAL_TRY(trainer_->load_local(local));
  ByteReader data = tensor("data");
  return data_->load(data);
}

}  // namespace shoal::node
