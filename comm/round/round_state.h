#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "comm/codec_choice.h"
#include "comm/limits.h"
#include "comm/round/codec_state.h"
#include "comm/round/reducer.h"
#include "comm/view.h"
#include "comm/wire/message.h"
#include "compress/error_feedback.h"
#include "ops/base/clock.h"

namespace shoal::comm {

/// Content hashes: two answers (controls) with the same content are the same under any ballot, so
/// that a later ballot can issue them again.
Hash256 answer_hash(const Answer& answer, const Bytes& encoded);
/// Names a member's contribution of a round in a Fetch: it makes one for each part.
Hash256 contribution_key(std::size_t part, std::size_t member);
/// Leaves out `plan` and `excluded`, which say how a ballot works, not what it decides.
Hash256 control_hash(const Control& control);

/// What a round decides: the control and one answer a part (zero hash where the part is empty).
struct VectorOfAnswers {
  Control control;
  std::vector<Hash256> answers;
  Hash256 hash;
};
VectorOfAnswers make_vector(std::uint64_t round, const Control& control,
                            std::vector<Hash256> answers);

/// What this member knows of an answer because it reduced it.
struct ReducedHere {
  std::vector<float> residual;  ///< what the encoding lost, over the part
  std::vector<double> norms;    ///< of the contributors' means
};

struct StoredContribution {
  bool skip = false;
  PartInput input;
};

/// This member's own contribution, kept until commit.
struct OwnContribution {
  /// s = w x + carry, the whole flat array. With w = 0, of granules with pending weight only; what
  /// else the carry holds (losses of encoding) has no weight to be divided by, and waits.
  std::shared_ptr<const std::vector<float>> sum;
  double weight = 0;  ///< of this round's samples; 0: only what is pending is sent
  std::optional<CodecChoice> choice;
  std::vector<std::shared_ptr<const compress::Codec>> codecs;  ///< per part, once picked
  std::vector<compress::WeightRun> weights;                    ///< over all granules
  std::vector<Bytes> encoded;                                  ///< per part; empty until encoded
  bool ready = false;                                          ///< encoded
  std::set<std::pair<std::size_t, std::size_t>> sent;          ///< (part, owner)

  /// Whether there is no weight in any of the granules: to say so is all there is to send.
  [[nodiscard]] bool empty(Range granules) const;
};

struct Vote {
  Hash256 hash;
  Hash256 state;
};

/// One attempt to decide the round.
struct BallotState {
  std::optional<Control> control;
  std::vector<Hash256> issued;        ///< per part; zero: not yet
  std::map<std::size_t, Vote> votes;  ///< by member index
  std::set<std::size_t> reducing;     ///< parts being reduced here right now
  TimePoint since;                    ///< when its control arrived
};

struct Held {
  Ballot ballot;
  VectorOfAnswers vector;
};

/// The attempt this member leads.
struct Leading {
  Ballot ballot;
  std::map<std::size_t, Promise> promises;
  TimePoint since;
  bool proposed = false;
};

/// All that a member knows of the one round that is open: facts only, as they arrived. What
/// follows from them is the engine's business (`Engine::advance`).
struct RoundState {
  std::uint64_t round = 0;
  Hash256 parent;
  View view;
  std::size_t me = 0;      ///< own index in the view
  CodecState codec_state;  ///< that the round's encodings are made and read with

  Ballot promised;  ///< nothing below it is answered, held or accepted any more
  std::uint32_t counter_seen = 0;
  std::map<Ballot, BallotState> ballots;
  std::map<std::size_t, std::size_t> brought;  ///< ballots, by the member that spoke of them first
  std::map<std::size_t, std::size_t> passed_on;  ///< answers of other owners, by member
  std::map<Hash256, StoredAnswer> answers;
  std::optional<Held> held;
  std::optional<Hash256> decided;  ///< known to be chosen, perhaps before we hold it

  std::map<std::size_t, std::map<std::size_t, StoredContribution>> contributions;  ///< part, member
  std::map<Hash256, ReducedHere> reduced_here;
  std::set<std::size_t> refused;  ///< members a guard refused
  std::set<std::size_t> late;     ///< members that an owner can't wait for (atomic)
  std::optional<OwnContribution> own;
  std::optional<Leading> leading;

  Hash256 decoded_hash;                               ///< vector that `decoded` belongs to
  std::shared_ptr<const std::vector<float>> decoded;  ///< the mean, flat
  CodecState codec_state_after;                       ///< its answers
  bool decoding = false;

  TimePoint active_since = kNever;  ///< when something of this round first happened here
  Duration nudge_after = limits::kDeadlineMin / 2;  ///< until everybody is asked for what lacks
  std::optional<TimePoint> fetched;                 ///< when somebody who is ahead was asked last
  TimePoint first_contribution = kNever;

  [[nodiscard]] std::size_t parts() const { return view.size(); }
  [[nodiscard]] bool empty_part(std::size_t p) const { return view.part(p).empty(); }
  BallotState& ballot(const Ballot& b);
  /// The same for a ballot that a member speaks of; null when it has brought too many.
  [[nodiscard]] BallotState* ballot_of(std::size_t member, const Ballot& b);
  /// Member index that reduces the part under the ballot; nothing while unknown or reused.
  [[nodiscard]] std::optional<std::size_t> owner(const Ballot& b, std::size_t part) const;
  /// Who issued the answer, under whatever ballot; nothing when that was not seen here.
  [[nodiscard]] std::optional<std::size_t> issuer(std::size_t part, const Hash256& answer) const;
  /// Whether the ballot's control and all its answers are here.
  [[nodiscard]] bool complete(const Ballot& b) const;
  /// Whether a member is to be left out of every part, for either reason.
  [[nodiscard]] bool left_out(std::size_t m) const {
    return refused.contains(m) || late.contains(m);
  }
  /// Whether the ballot leaves out everybody who is known here to be; else it can't complete.
  [[nodiscard]] bool leaves_refused_out(const Ballot& b) const;
  /// Requires: complete(b).
  [[nodiscard]] VectorOfAnswers vector(const Ballot& b) const;
  /// A hash that more than half of the view hold under one ballot.
  [[nodiscard]] std::optional<Hash256> chosen() const;
};

}  // namespace shoal::comm
