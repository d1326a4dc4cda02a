#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "comm/peer_id.h"
#include "comm/view.h"
#include "compress/error_feedback.h"
#include "ops/base/bytes.h"
#include "ops/base/hash.h"
#include "ops/base/result.h"

namespace shoal::comm {

inline constexpr std::uint16_t kProtocolVersion = 1;

/// What every frame says first. The sender is the authenticated key of the session, never a field.
struct Header {
  std::uint64_t run = 0;     ///< run id
  std::uint64_t branch = 0;  ///< line of commits within the run; 0 outside rounds
  std::uint32_t view = 0;    ///< view number
  Ballot ballot;
  std::uint64_t round = 0;
  std::uint64_t session = 0;   ///< the sender's session number
  std::uint64_t sequence = 0;  ///< rises per (sender session, class); replays are dropped
  friend bool operator==(const Header&, const Header&) = default;
};

// --- session --------------------------------------------------------------------------------

/// First frame on every (re)connection, both ways.
struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::string name;  ///< for people
  Hash256 model_hash;
  Hash256 keys_hash;                   ///< hash of the run's keys
  std::vector<std::string> addresses;  ///< host:port the peer announces; empty when unreachable
  std::uint64_t rate = 0;              ///< bytes/s it gives, from its limits or measured; 0 unknown
  bool observer = false;               ///< asks, never trains (the introduction of an invitation)
  /// The receiver's session whose hello the sender has accepted, 0 none: only then may frames of
  /// that session follow on any connection.
  std::uint64_t heard = 0;
  friend bool operator==(const Hello&, const Hello&) = default;
};

enum class RefuseReason : std::uint8_t {
  kVersion,
  kRun,
  kModel,
  kKeys,
  kNotAllowed,
  kFull,
  kBanned
};

/// A hello or a request is refused, told apart in words.
struct Refuse {
  RefuseReason reason = RefuseReason::kNotAllowed;
  std::string sentence;
  friend bool operator==(const Refuse&, const Refuse&) = default;
};

/// Independent of computing: also what the live table shows.
struct Heartbeat {
  std::uint64_t nonce = 0;  ///< to be echoed
  std::uint64_t echo = 0;   ///< the last nonce received
  std::uint64_t round = 0;
  std::uint64_t step = 0;
  float loss = 0;
  float samples_per_s = 0;
  std::uint64_t echo_age_us = 0;  ///< since the echoed nonce arrived, so that it is no part of the
                                  ///< round trip
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

/// A clean leave: the leader proposes a view without the sender.
struct Bye {
  std::string reason;
  friend bool operator==(const Bye&, const Bye&) = default;
};

// --- membership -----------------------------------------------------------------------------

/// What members tell each other of a peer that may connect.
struct PeerCard {
  PeerId id;
  std::string name;
  std::vector<std::string> addresses;
  friend bool operator==(const PeerCard&, const PeerCard&) = default;
};

/// Sent over a session opened with an invitation's key: the joiner's own key, proved.
struct Enrol {
  PeerCard card;
  std::vector<std::byte> signature;  ///< Ed25519 by card.id over (run, invitation key)
  friend bool operator==(const Enrol&, const Enrol&) = default;
};

/// The effective run keys and the peers that may connect; answer to Enrol and news for members.
struct Roster {
  std::vector<PeerCard> peers;
  std::string run_keys;  ///< sorted `key=value` lines; empty in mere news
  friend bool operator==(const Roster&, const Roster&) = default;
};

// --- rounds ---------------------------------------------------------------------------------

/// "Let me in from the next view on."
struct Join {
  std::uint64_t rate = 0;
  double speed = 1;
  friend bool operator==(const Join&, const Join&) = default;
};

/// A member's encoded sum for one part; payload = the encoding. Sent to the part's owner.
struct Contribution {
  std::uint32_t part = 0;
  Range granules;
  Hash256 parent;                            ///< hash of the round before, chained
  std::uint8_t codec = 0;                    ///< wire id
  bool skip = false;                         ///< "count me out": nothing to say, nothing owed
  std::vector<compress::WeightRun> weights;  ///< covers `granules` exactly, weights >= 0
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

/// The owner's word on one part; payload = the encoded mean.
struct Answer {
  std::uint32_t part = 0;
  Range granules;
  std::uint8_t codec = 0;
  std::vector<std::uint16_t> contributors;    ///< member indices, rising
  std::vector<compress::WeightRun> divisors;  ///< covers `granules` exactly
  std::vector<std::uint16_t> skipped;         ///< members that had nothing to say, rising
  friend bool operator==(const Answer&, const Answer&) = default;
};

/// Where the answer of a part comes from in a ballot above 0.
struct PartPlan {
  std::uint16_t owner = 0;  ///< member index that reduces it under this ballot
  Hash256 reuse;            ///< or, when not zero, the content hash of an answer issued before
  friend bool operator==(const PartPlan&, const PartPlan&) = default;
};

/// The leader's word on a round: what is decided beside the parts. In ballots above 0 it also says
/// who reduces what.
struct Control {
  Hash256 parent;
  View next_view;
  std::vector<double> scalars;          ///< for the optimizer (learning rate, corrections)
  bool checkpoint = false;              ///< everybody writes a checkpoint after this round
  bool stop = false;                    ///< the run ends with this round
  std::vector<std::uint16_t> excluded;  ///< members left out of every part (dead, refused)
  std::vector<PartPlan> plan;           ///< one a part; empty in ballot 0
  friend bool operator==(const Control&, const Control&) = default;
};

/// "I hold every answer of this ballot." The vote of the round protocol.
struct Hold {
  Hash256 hash;   ///< of the vector of answers, chained on the parent
  Hash256 state;  ///< of the replicated state before this round, every tenth round; else zero
  friend bool operator==(const Hold&, const Hold&) = default;
};

struct Prepare {
  friend bool operator==(const Prepare&, const Prepare&) = default;
};

/// "I refuse everything below this ballot", what I last held, and the answers I could supply.
struct Promise {
  bool held = false;
  Ballot held_ballot;
  Control held_control;
  std::vector<Hash256> held_answers;  ///< one a part, when held
  std::vector<Hash256> known;         ///< one a part, zero when none: any answer I could supply
  friend bool operator==(const Promise&, const Promise&) = default;
};

/// An owner's guard refused a contribution, or where contributions are atomic the owner can wait no
/// longer for one: this ballot can't complete.
struct Refused {
  std::uint32_t part = 0;
  std::uint16_t member = 0;
  std::string reason;
  bool late = false;  ///< nothing is wrong with it: it may come in a later round
  friend bool operator==(const Refused&, const Refused&) = default;
};

/// "You are behind": where the sender stands. Sent for frames of an older round, view or ballot.
struct Stale {
  Hash256 committed_hash;            ///< of round header.round - 1
  std::uint64_t committed_work = 0;  ///< samples behind the branch, for the meeting of branches
  View view;
  friend bool operator==(const Stale&, const Stale&) = default;
};

/// "Send me what I lack of this round": the control and the answers of the committed (or the
/// highest) vector; `have` lists what is held already: answer_hash() of answers,
/// contribution_key() of contributions (round_state.h).
struct Fetch {
  std::vector<Hash256> have;
  friend bool operator==(const Fetch&, const Fetch&) = default;
};

/// "Send me the replicated state."
struct StateRequest {
  std::uint64_t pending_round = 0;  ///< round of a contribution whose fate the sender must learn
  friend bool operator==(const StateRequest&, const StateRequest&) = default;
};

/// The replicated state as of round header.round - 1; payload = the host's snapshot, then the state
/// of the answers' codec, if it has one.
struct StateReply {
  Hash256 committed_hash;
  std::uint64_t committed_work = 0;
  View view;
  bool record_known = false;                       ///< contributors of `pending_round` follow
  std::vector<std::vector<std::uint16_t>> record;  ///< per part, in that round's view
  bool stop = false;                               ///< the run ended with round header.round - 1
  bool owed = false;                               ///< as RoundRecord::owed() of that round
  std::uint64_t codec_state_bytes = 0;             ///< at the end of the payload
  friend bool operator==(const StateReply&, const StateReply&) = default;
};

using Body =
    std::variant<Hello, Refuse, Heartbeat, Bye, Enrol, Roster, Join, Contribution, Answer, Control,
                 Hold, Prepare, Promise, Refused, Stale, Fetch, StateRequest, StateReply>;

/// One message: header, body, and for the bulk kinds (Contribution, Answer, StateReply) a payload.
struct Message {
  Header header;
  Body body;
  Bytes payload;
};

/// The word for the message's kind in metrics and logs ("hold", "contribution", ...).
const char* kind_name(const Body& body) noexcept;

/// What of a message one frame carries: endpoints cut payloads into chunks.
struct Frame {
  Message message;                  ///< payload = this chunk only
  std::uint64_t payload_bytes = 0;  ///< of the whole message
  std::uint64_t chunk_offset = 0;
};

/// The header frame of a chunk of `message` (FlatBuffers, wire.md); the chunk itself goes behind
/// it as a raw frame. Sentences are cut to what decode() takes; everything else is the caller's to
/// keep within limits.h. A hello is written under its own `version`.
Bytes encode_header(const Message& message, std::uint64_t payload_bytes,
                    std::uint64_t chunk_offset);

/// The one judge of a peer's bytes: magic, version, structure, bounds of limits.h, ranges that
/// rise and fit, finite numbers. What it lets through can reach no CHECK.
/// Errors: kBadFrame, a sentence that begins with the word of `drop_reason` and a colon.
Result<Frame> decode(ByteSpan header, Bytes chunk);

/// The short fixed word to count a refused frame by: "truncated", "oversized", "bad-magic",
/// "other-version" (another protocol; not the sender's fault), "bad-header", "bad-body",
/// "bad-payload".
std::string drop_reason(const Error& error);

}  // namespace shoal::comm
