#include "comm/wire/read.h"

#include <algorithm>
#include <cmath>

#include "comm/address.h"
#include "comm/limits.h"
#include "comm/wire/text.h"

namespace shoal::comm::wire {
namespace {

template <typename T>
using FbVector = flatbuffers::Vector<T>;
using FbStrings = FbVector<flatbuffers::Offset<flatbuffers::String>>;

/// Element `i` of a vector. The verifier leaves it open whether elements of 8 bytes lie at a
/// multiple of 8, so that they must not be read in place.
template <typename T>
T element(const FbVector<T>& in, flatbuffers::uoffset_t i) {
  T out;
  std::memcpy(&out, in.Data() + i * sizeof(T), sizeof(T));
  return out;
}
template <typename T>
T element(const FbVector<const T*>& in, flatbuffers::uoffset_t i) {
  T out;
  std::memcpy(static_cast<void*>(&out), in.Data() + i * sizeof(T), sizeof(T));
  return out;
}

template <typename T>
void read_all(const FbVector<T>& in, std::vector<T>& out) {
  out.resize(in.size());
  for (flatbuffers::uoffset_t i = 0; i < in.size(); ++i) {
    out[i] = element(in, i);
  }
}

Hash256 hash(const fb::Hash& in) {
  Hash256 out;
  std::memcpy(out.bytes.data(), &in, out.bytes.size());
  return out;
}

bool read_text(const flatbuffers::String& in, std::size_t bytes_max, std::string& out) {
  const std::string_view text(in.c_str(), in.size());
  if (!is_clean_text(text, bytes_max)) {
    return false;
  }
  out = text;
  return true;
}

bool read_hashes(const FbVector<const fb::Hash*>& in, std::vector<Hash256>& out) {
  if (in.size() > limits::kMembersMax) {
    return false;
  }
  out.reserve(in.size());
  for (const fb::Hash* h : in) {
    out.push_back(hash(*h));
  }
  return true;
}

/// Member indices, rising.
bool read_indices(const FbVector<std::uint16_t>& in, std::vector<std::uint16_t>& out) {
  if (in.size() > limits::kMembersMax) {
    return false;
  }
  read_all(in, out);
  return std::adjacent_find(out.begin(), out.end(), std::greater_equal<>()) == out.end() &&
         (out.empty() || out.back() < limits::kMembersMax);
}

/// The addresses a peer announces: text that a dialler can take.
bool read_addresses(const FbStrings& in, std::vector<std::string>& out) {
  if (in.size() > limits::kAddressesMax) {
    return false;
  }
  for (const flatbuffers::String* text : in) {
    std::string address;
    if (!read_text(*text, limits::kNameBytesMax, address) || !parse_address(address).ok()) {
      return false;
    }
    out.push_back(std::move(address));
  }
  return true;
}

bool good_speed(double speed) { return speed >= limits::kSpeedMin && speed <= limits::kSpeedMax; }

bool good_bounds(const std::vector<std::uint64_t>& bounds, std::size_t members) {
  return bounds.size() == members + 1 && bounds.front() == 0 &&
         std::is_sorted(bounds.begin(), bounds.end()) && bounds.back() <= limits::kGranulesMax;
}

/// A view has at least one member, no peer twice, and a part for each member.
bool read_view(const fb::View& in, View& out) {
  const auto& members = *in.members();
  if (members.size() == 0 || members.size() > limits::kMembersMax ||
      in.bounds()->size() != members.size() + 1) {
    return false;
  }
  out.number = in.number();
  out.members.reserve(members.size());
  std::vector<PeerId> peers;
  peers.reserve(members.size());
  for (flatbuffers::uoffset_t i = 0; i < members.size(); ++i) {
    const fb::Member m = element(members, i);
    if (m.rate() > limits::kRateMax || !good_speed(m.speed())) {
      return false;
    }
    out.members.push_back({{id(m.peer()), m.session()}, m.rate(), m.speed()});
    peers.push_back(out.members.back().id.peer);
  }
  std::sort(peers.begin(), peers.end());
  read_all(*in.bounds(), out.bounds);
  return std::adjacent_find(peers.begin(), peers.end()) == peers.end() &&
         good_bounds(out.bounds, members.size());
}

bool read_granules(const fb::Range& in, Range& out) {
  out = {in.begin(), in.end()};
  return out.begin <= out.end && out.end <= limits::kGranulesMax;
}

/// Runs that cover `granules` exactly, one behind the other, none empty.
bool read_runs(const fb::WeightRuns& in, Range granules, double weight_max,
               std::vector<compress::WeightRun>& out) {
  const auto& lengths = *in.lengths();
  const auto& weights = *in.weights();
  if (lengths.size() != weights.size() || lengths.size() > limits::kRunsMax) {
    return false;
  }
  out.reserve(lengths.size());
  std::uint64_t at = granules.begin;
  for (flatbuffers::uoffset_t i = 0; i < lengths.size(); ++i) {
    const double weight = element(weights, i);
    const std::uint32_t length = element(lengths, i);
    if (length == 0 || !(weight >= 0 && weight <= weight_max)) {
      return false;
    }
    out.push_back({{at, at + length}, weight});
    at += length;
  }
  return at == granules.end;
}

bool read(const fb::Hello& in, Hello& out) {
  out.model_hash = hash(*in.model_hash());
  out.keys_hash = hash(*in.keys_hash());
  out.rate = in.rate();
  out.observer = in.observer();
  out.heard = in.heard();
  return read_text(*in.name(), limits::kNameBytesMax, out.name) &&
         read_addresses(*in.addresses(), out.addresses) && out.rate <= limits::kRateMax;
}

bool read(const fb::Refuse& in, Refuse& out) {
  out.reason = RefuseReason{in.reason()};
  return out.reason <= RefuseReason::kBanned &&
         read_text(*in.sentence(), limits::kReasonBytesMax, out.sentence);
}

bool read(const fb::Heartbeat& in, Heartbeat& out) {
  out = {in.nonce(), in.echo(),          in.round(),      in.step(),
         in.loss(),  in.samples_per_s(), in.echo_age_us()};
  // A loss that is not finite is news that people should see, not a bad frame.
  return out.round <= limits::kRoundMax && std::isfinite(out.samples_per_s) &&
         out.samples_per_s >= 0;
}

bool read(const fb::Bye& in, Bye& out) {
  return read_text(*in.reason(), limits::kReasonBytesMax, out.reason);
}

bool read(const fb::PeerCard& in, PeerCard& out) {
  out.id = id(*in.id());
  return read_text(*in.name(), limits::kNameBytesMax, out.name) &&
         read_addresses(*in.addresses(), out.addresses);
}

bool read(const fb::Enrol& in, Enrol& out) {
  constexpr std::size_t kSignatureBytes = 64;
  const auto* signature = reinterpret_cast<const std::byte*>(in.signature()->data());
  out.signature.assign(signature, signature + in.signature()->size());
  return out.signature.size() == kSignatureBytes && read(*in.card(), out.card);
}

bool read(const fb::Roster& in, Roster& out) {
  const auto& peers = *in.peers();
  const std::string_view keys(in.run_keys()->c_str(), in.run_keys()->size());
  if (peers.size() > limits::kPeersMax || !is_clean_text(keys, limits::kHeaderBytesMax, true)) {
    return false;
  }
  out.run_keys = keys;
  out.peers.resize(peers.size());
  for (flatbuffers::uoffset_t i = 0; i < peers.size(); ++i) {
    if (!read(*peers.Get(i), out.peers[i])) {
      return false;
    }
  }
  return true;
}

bool read(const fb::Join& in, Join& out) {
  out = {in.rate(), in.speed()};
  return out.rate <= limits::kRateMax && good_speed(out.speed);
}

bool read(const fb::Contribution& in, Contribution& out) {
  out.part = in.part();
  out.parent = hash(*in.parent());
  out.codec = in.codec();
  out.skip = in.skip();
  const bool weighed = !out.skip || in.weights()->lengths()->size() > 0;
  return out.part < limits::kMembersMax && read_granules(*in.granules(), out.granules) &&
         (!weighed ||
          read_runs(*in.weights(), out.granules, limits::kMemberWeightMax, out.weights));
}

bool read(const fb::Answer& in, Answer& out) {
  out.part = in.part();
  out.codec = in.codec();
  return out.part < limits::kMembersMax && read_granules(*in.granules(), out.granules) &&
         read_indices(*in.contributors(), out.contributors) &&
         (in.skipped() == nullptr || read_indices(*in.skipped(), out.skipped)) &&
         read_runs(*in.divisors(), out.granules, limits::kWeightMax, out.divisors);
}

bool read(const fb::Control& in, Control& out) {
  out.parent = hash(*in.parent());
  out.checkpoint = in.checkpoint();
  out.stop = in.stop();
  if (in.scalars()->size() > limits::kScalarsMax || in.plan()->size() > limits::kMembersMax) {
    return false;
  }
  read_all(*in.scalars(), out.scalars);
  for (const fb::PartPlan* part : *in.plan()) {
    out.plan.push_back({part->owner(), hash(part->reuse())});
  }
  return read_view(*in.next_view(), out.next_view) && read_indices(*in.excluded(), out.excluded) &&
         std::all_of(out.scalars.begin(), out.scalars.end(),
                     [](double x) { return std::isfinite(x); }) &&
         std::all_of(out.plan.begin(), out.plan.end(),
                     [](const PartPlan& p) { return p.owner < limits::kMembersMax; });
}

bool read(const fb::Hold& in, Hold& out) {
  out.hash = hash(*in.hash());
  if (in.state() != nullptr) {
    out.state = hash(*in.state());
  }
  return true;
}

bool read(const fb::Prepare&, Prepare&) { return true; }

bool read(const fb::Promise& in, Promise& out) {
  out.held = in.held_control() != nullptr;
  if (out.held != (in.held_ballot() != nullptr) || out.held != (in.held_answers() != nullptr)) {
    return false;
  }
  if (!out.held) {
    return read_hashes(*in.known(), out.known);
  }
  out.held_ballot = {in.held_ballot()->counter(), id(in.held_ballot()->leader())};
  return good(out.held_ballot) && read(*in.held_control(), out.held_control) &&
         read_hashes(*in.held_answers(), out.held_answers) && read_hashes(*in.known(), out.known);
}

bool read(const fb::Refused& in, Refused& out) {
  out.part = in.part();
  out.member = in.member();
  out.late = in.late();
  return out.part < limits::kMembersMax && out.member < limits::kMembersMax &&
         read_text(*in.reason(), limits::kReasonBytesMax, out.reason);
}

bool read(const fb::Stale& in, Stale& out) {
  out.committed_hash = hash(*in.committed_hash());
  out.committed_work = in.committed_work();
  return read_view(*in.view(), out.view);
}

bool read(const fb::Fetch& in, Fetch& out) { return read_hashes(*in.have(), out.have); }

bool read(const fb::StateRequest& in, StateRequest& out) {
  out.pending_round = in.pending_round();
  return out.pending_round <= limits::kRoundMax;
}

bool read(const fb::StateReply& in, StateReply& out) {
  out.committed_hash = hash(*in.committed_hash());
  out.committed_work = in.committed_work();
  out.record_known = in.record_known();
  const auto& record = *in.record();
  if (record.size() > limits::kMembersMax || (record.size() > 0 && !out.record_known)) {
    return false;
  }
  out.record.resize(record.size());
  for (flatbuffers::uoffset_t i = 0; i < record.size(); ++i) {
    if (!read_indices(*record.Get(i)->list(), out.record[i])) {
      return false;
    }
  }
  out.stop = in.stop();
  out.owed = in.owed();
  out.codec_state_bytes = in.codec_state_bytes();
  return out.codec_state_bytes <= limits::kCodecStateBytesMax && read_view(*in.view(), out.view);
}

}  // namespace

PeerId id(const fb::Key& key) {
  PeerId out;
  std::memcpy(out.key.data(), &key, out.key.size());
  return out;
}

bool good(const Ballot& ballot) {
  return ballot.counter <= limits::kBallotsMax &&
         (ballot.counter == 0) == (ballot.leader == PeerId{});
}

bool read_body(const fb::Frame& frame, Body& out) {
  if (frame.body() == nullptr) {
    return false;
  }
  switch (frame.body_type()) {
    case fb::Body::Hello:
      return read(*frame.body_as_Hello(), out.emplace<Hello>());
    case fb::Body::Refuse:
      return read(*frame.body_as_Refuse(), out.emplace<Refuse>());
    case fb::Body::Heartbeat:
      return read(*frame.body_as_Heartbeat(), out.emplace<Heartbeat>());
    case fb::Body::Bye:
      return read(*frame.body_as_Bye(), out.emplace<Bye>());
    case fb::Body::Enrol:
      return read(*frame.body_as_Enrol(), out.emplace<Enrol>());
    case fb::Body::Roster:
      return read(*frame.body_as_Roster(), out.emplace<Roster>());
    case fb::Body::Join:
      return read(*frame.body_as_Join(), out.emplace<Join>());
    case fb::Body::Contribution:
      return read(*frame.body_as_Contribution(), out.emplace<Contribution>());
    case fb::Body::Answer:
      return read(*frame.body_as_Answer(), out.emplace<Answer>());
    case fb::Body::Control:
      return read(*frame.body_as_Control(), out.emplace<Control>());
    case fb::Body::Hold:
      return read(*frame.body_as_Hold(), out.emplace<Hold>());
    case fb::Body::Prepare:
      return read(*frame.body_as_Prepare(), out.emplace<Prepare>());
    case fb::Body::Promise:
      return read(*frame.body_as_Promise(), out.emplace<Promise>());
    case fb::Body::Refused:
      return read(*frame.body_as_Refused(), out.emplace<Refused>());
    case fb::Body::Stale:
      return read(*frame.body_as_Stale(), out.emplace<Stale>());
    case fb::Body::Fetch:
      return read(*frame.body_as_Fetch(), out.emplace<Fetch>());
    case fb::Body::StateRequest:
      return read(*frame.body_as_StateRequest(), out.emplace<StateRequest>());
    case fb::Body::StateReply:
      return read(*frame.body_as_StateReply(), out.emplace<StateReply>());
    case fb::Body::NONE:
      break;
  }
  return false;  // or a number that is no kind of this schema
}

}  // namespace shoal::comm::wire
