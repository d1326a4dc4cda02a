#include <algorithm>

#include "comm/limits.h"
#include "comm/wire/frame.h"
#include "comm/wire/message.h"
#include "comm/wire/shoal_generated.h"
#include "comm/wire/text.h"

namespace shoal::comm {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;

fb::Key wire(const PeerId& id) {
  fb::Key out;
  std::memcpy(static_cast<void*>(&out), id.key.data(), id.key.size());
  return out;
}

fb::Hash wire(const Hash256& hash) {
  fb::Hash out;
  std::memcpy(static_cast<void*>(&out), hash.bytes.data(), hash.bytes.size());
  return out;
}

fb::Ballot wire(const Ballot& ballot) { return {ballot.counter, wire(ballot.leader)}; }

auto hashes(Builder& b, const std::vector<Hash256>& list) {
  static_assert(sizeof(Hash256) == sizeof(fb::Hash));
  return b.CreateVectorOfStructs(reinterpret_cast<const fb::Hash*>(list.data()), list.size());
}

/// Sentences are ours to cut; decode() refuses longer ones.
auto sentence(Builder& b, const std::string& text) {
  return b.CreateString(clean_text(text, limits::kReasonBytesMax));
}

Offset<fb::View> put(Builder& b, const View& view) {
  std::vector<fb::Member> members;
  members.reserve(view.members.size());
  for (const Member& m : view.members) {
    members.emplace_back(wire(m.id.peer), m.id.session, m.rate, m.speed);
  }
  const auto list = b.CreateVectorOfStructs(members);
  return fb::CreateView(b, view.number, list, b.CreateVector(view.bounds));
}

Offset<fb::WeightRuns> put(Builder& b, const std::vector<compress::WeightRun>& runs) {
  std::vector<std::uint32_t> lengths;
  std::vector<double> weights;
  lengths.reserve(runs.size());
  weights.reserve(runs.size());
  for (const auto& run : runs) {
    lengths.push_back(static_cast<std::uint32_t>(run.granules.size()));
    weights.push_back(run.weight);
  }
  const auto list = b.CreateVector(lengths);
  return fb::CreateWeightRuns(b, list, b.CreateVector(weights));
}

Offset<fb::PeerCard> put(Builder& b, const PeerCard& card) {
  const fb::Key id = wire(card.id);
  const auto name = b.CreateString(card.name);
  return fb::CreatePeerCard(b, &id, name, b.CreateVectorOfStrings(card.addresses));
}

Offset<fb::Hello> put(Builder& b, const Hello& m) {
  const fb::Hash model = wire(m.model_hash);
  const fb::Hash keys = wire(m.keys_hash);
  const auto name = b.CreateString(m.name);
  const auto addresses = b.CreateVectorOfStrings(m.addresses);
  return fb::CreateHello(b, name, &model, &keys, addresses, m.rate, m.observer, m.heard);
}

Offset<fb::Refuse> put(Builder& b, const Refuse& m) {
  return fb::CreateRefuse(b, static_cast<std::uint8_t>(m.reason), sentence(b, m.sentence));
}

Offset<fb::Heartbeat> put(Builder& b, const Heartbeat& m) {
  return fb::CreateHeartbeat(b, m.nonce, m.echo, m.echo_age_us, m.round, m.step, m.loss,
                             m.samples_per_s);
}

Offset<fb::Bye> put(Builder& b, const Bye& m) { return fb::CreateBye(b, sentence(b, m.reason)); }

Offset<fb::Enrol> put(Builder& b, const Enrol& m) {
  const auto card = put(b, m.card);
  return fb::CreateEnrol(b, card,
                         b.CreateVector(reinterpret_cast<const std::uint8_t*>(m.signature.data()),
                                        m.signature.size()));
}

Offset<fb::Roster> put(Builder& b, const Roster& m) {
  std::vector<Offset<fb::PeerCard>> cards;
  for (const PeerCard& card : m.peers) {
    cards.push_back(put(b, card));
  }
  const auto list = b.CreateVector(cards);
  return fb::CreateRoster(b, list, b.CreateString(m.run_keys));
}

Offset<fb::Join> put(Builder& b, const Join& m) { return fb::CreateJoin(b, m.rate, m.speed); }

Offset<fb::Contribution> put(Builder& b, const Contribution& m) {
  const fb::Range granules(m.granules.begin, m.granules.end);
  const fb::Hash parent = wire(m.parent);
  const auto weights = put(b, m.weights);
  return fb::CreateContribution(b, m.part, &granules, &parent, m.codec, m.skip, weights);
}

Offset<fb::Answer> put(Builder& b, const Answer& m) {
  const fb::Range granules(m.granules.begin, m.granules.end);
  const auto contributors = b.CreateVector(m.contributors);
  const auto divisors = put(b, m.divisors);
  const auto skipped = m.skipped.empty() ? 0 : b.CreateVector(m.skipped);
  return fb::CreateAnswer(b, m.part, &granules, m.codec, contributors, divisors, skipped);
}

Offset<fb::Control> put(Builder& b, const Control& m) {
  const fb::Hash parent = wire(m.parent);
  std::vector<fb::PartPlan> parts;
  parts.reserve(m.plan.size());
  for (const PartPlan& part : m.plan) {
    parts.emplace_back(part.owner, wire(part.reuse));
  }
  const auto view = put(b, m.next_view);
  const auto scalars = b.CreateVector(m.scalars);
  const auto excluded = b.CreateVector(m.excluded);
  const auto plan = b.CreateVectorOfStructs(parts);
  return fb::CreateControl(b, &parent, view, scalars, m.checkpoint, m.stop, excluded, plan);
}

Offset<fb::Hold> put(Builder& b, const Hold& m) {
  const fb::Hash hash = wire(m.hash);
  const fb::Hash state = wire(m.state);
  return fb::CreateHold(b, &hash, m.state.is_zero() ? nullptr : &state);
}

Offset<fb::Prepare> put(Builder& b, const Prepare&) { return fb::CreatePrepare(b); }

Offset<fb::Promise> put(Builder& b, const Promise& m) {
  const auto known = hashes(b, m.known);
  if (!m.held) {
    return fb::CreatePromise(b, nullptr, 0, 0, known);
  }
  const fb::Ballot ballot = wire(m.held_ballot);
  const auto control = put(b, m.held_control);
  return fb::CreatePromise(b, &ballot, control, hashes(b, m.held_answers), known);
}

Offset<fb::Refused> put(Builder& b, const Refused& m) {
  return fb::CreateRefused(b, m.part, m.member, sentence(b, m.reason), m.late);
}

Offset<fb::Stale> put(Builder& b, const Stale& m) {
  const fb::Hash committed = wire(m.committed_hash);
  return fb::CreateStale(b, &committed, m.committed_work, put(b, m.view));
}

Offset<fb::Fetch> put(Builder& b, const Fetch& m) { return fb::CreateFetch(b, hashes(b, m.have)); }

Offset<fb::StateRequest> put(Builder& b, const StateRequest& m) {
  return fb::CreateStateRequest(b, m.pending_round);
}

Offset<fb::StateReply> put(Builder& b, const StateReply& m) {
  const fb::Hash committed = wire(m.committed_hash);
  std::vector<Offset<fb::Indices>> parts;
  for (const auto& contributors : m.record) {
    parts.push_back(fb::CreateIndices(b, b.CreateVector(contributors)));
  }
  const auto view = put(b, m.view);
  const auto record = b.CreateVector(parts);
  return fb::CreateStateReply(b, &committed, m.committed_work, view, m.record_known, record, m.stop,
                              m.owed, m.codec_state_bytes);
}

/// Magic and version stand first, for all versions to come.
Bytes framed(std::uint16_t version, const Builder& b) {
  std::vector<std::byte> out(kPreambleBytes + b.GetSize());
  std::copy(kMagic.begin(), kMagic.end(), out.begin());
  std::memcpy(out.data() + kMagic.size(), &version, sizeof version);
  std::memcpy(out.data() + kPreambleBytes, b.GetBufferPointer(), b.GetSize());
  return Bytes(std::move(out));
}

}  // namespace

Bytes encode_header(const Message& message, std::uint64_t payload_bytes,
                    std::uint64_t chunk_offset) {
  Builder b(1024);
  const Header& h = message.header;
  const auto body = std::visit([&](const auto& m) { return put(b, m).Union(); }, message.body);
  const auto type = static_cast<fb::Body>(message.body.index() + 1);
  const fb::Key leader = wire(h.ballot.leader);
  b.Finish(fb::CreateFrame(b, h.run, h.branch, h.view, h.ballot.counter,
                           h.ballot.counter == 0 ? nullptr : &leader, h.round, h.session,
                           h.sequence, payload_bytes, chunk_offset, type, body));
  const auto* hello = std::get_if<Hello>(&message.body);
  return framed(hello == nullptr ? kProtocolVersion : hello->version, b);
}

}  // namespace shoal::comm
