#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm/group_mean.h"
#include "comm/round/deadlines.h"
#include "comm/round/round_state.h"
#include "ops/base/rng.h"

namespace shoal::comm {

/// The round protocol. Handlers record facts in the open round (`cur_`); `advance()` then does all
/// that follows from them, over and over until nothing more follows. One round is open at a time:
/// its successor opens when it commits.
class GroupMean::Engine {
 public:
  Engine(Loop& loop, Net& net, GroupHost& host, const ParamMap& map, CodecChoice answer_codec,
         GroupOptions options, Log log);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void start(std::uint64_t branch, View first_view, std::uint64_t committed_round, Hash256 parent);
  Task<Result<std::uint64_t>> enter(double speed);
  Task<Result<Mean>> mean(std::span<const float> x, double weight, CodecChoice codec);
  Task<bool> settled();
  Task<void> finish(Duration linger);
  void leave(const std::string& reason);

  void on_message(const PeerId& from, const Message& message);
  void on_alive(const PeerId& peer, bool alive);

  [[nodiscard]] const View& view() const {
    const bool returned = cur_.held && returned_ >= cur_.round;  // tentative: its next view counts
    return returned ? cur_.held->vector.control.next_view : cur_.view;
  }
  [[nodiscard]] std::uint64_t branch() const { return branch_; }
  [[nodiscard]] bool owed() const { return owed_ && flushes_ < limits::kFlushRounds; }
  [[nodiscard]] std::uint64_t next_round() const { return returned_ + 1; }
  [[nodiscard]] std::uint64_t committed_round() const { return committed_; }
  [[nodiscard]] Hash256 committed_hash() const { return cur_.parent; }
  [[nodiscard]] double committed_work() const { return work_; }
  [[nodiscard]] const GroupStats& stats() const { return stats_; }
  [[nodiscard]] const compress::Carry& carry() const { return carry_; }
  [[nodiscard]] std::span<const float> owner_residual() const { return residual_; }
  void save_private(ByteWriter& out) const;
  [[nodiscard]] Status load_private(ByteReader& in);
  [[nodiscard]] Bytes codec_state() const { return saved_state(cur_.codec_state); }
  [[nodiscard]] Status load_codec_state(ByteSpan bytes);

 private:
  /// A committed round, kept for stragglers: answers of the last few, contributors of more.
  struct Committed {
    RoundRecord record;
    Ballot ballot;
    VectorOfAnswers vector;
    std::map<Hash256, StoredAnswer> answers;
    CodecState codec_state;  ///< that they are read with
    std::shared_ptr<const std::vector<float>> decoded;
    std::map<std::size_t, Vote> votes;  ///< by member index, late ones too
  };
  struct Decoded {
    std::shared_ptr<const std::vector<float>> values;  ///< null: some answer does not decode
    CodecState codec_state_after;
  };
  struct PendingSend {
    PeerId to;
    Class cls;
    Message message;
  };

  // engine.cpp: the worker's side
  void open(std::uint64_t round, const View& view, const Hash256& parent, CodecState codec_state);
  /// Coroutines start a turn later: they name the opening of the round that they belong to.
  Task<void> encode_own(std::uint64_t epoch);
  Task<Result<Mean>> await_round(std::uint64_t round, bool contributed, std::span<const float> x,
                                 double weight);
  [[nodiscard]] Error no_progress(std::uint64_t round) const;
  void contribute(std::span<const float> x, double weight, CodecChoice codec);
  void fill(OwnContribution& own, std::span<const float> x) const;
  void withdraw(const std::string& problem);
  Task<Result<Mean>> catch_up(std::span<const float> x, double weight);
  Task<Decoded> decode(const VectorOfAnswers& vector, std::map<Hash256, StoredAnswer> answers,
                       std::uint64_t round, CodecState state);
  [[nodiscard]] compress::CodecContext answer_context(std::uint64_t round,
                                                      const CodecState& state) const;
  [[nodiscard]] compress::CodecContext sender_context(std::uint64_t round,
                                                      std::size_t member) const;
  Result<Mean> deliver(const RoundRecord& record, std::vector<float> values,
                       std::vector<compress::WeightRun> divisors);
  Mean restored_mean();
  void report_pending();
  RoundRecord record_of(const RoundState& r, const VectorOfAnswers& vector,
                        const std::map<Hash256, StoredAnswer>& answers) const;
  std::vector<compress::WeightRun> divisors_of(
      const VectorOfAnswers& vector, const std::map<Hash256, StoredAnswer>& answers) const;

  // dispatch.cpp: what arrives, what leaves
  void on_round_message(const PeerId& from, const Message& message);
  void record(std::size_t from, const Message& message);
  void keep_ahead(const PeerId& from, const Message& message);
  void drain_ahead();
  void touch();  ///< something of the open round happened
  Message framed(const Ballot& ballot, Body body) const;
  void broadcast(Class cls, const Message& message);
  void post(const PeerId& to, Class cls, Message message);
  void drop_past_sends();
  void flush();
  void advance();
  void wake_later();
  void run(Task<void> task);

  // parts.cpp: contributions, owners, answers
  void record_contribution(std::size_t from, const Message& message);
  void record_answer(std::size_t from, const Message& message);
  void record_refused(std::size_t from, const Refused& refused);
  void send_contributions();
  void send_part(std::size_t part, std::size_t owner);
  std::vector<std::size_t> missing(const Ballot& ballot, std::size_t part) const;
  bool waited_enough(const Ballot& ballot) const;
  bool reduce_ready(const Ballot& ballot, std::size_t part);
  void consider_reduce();
  Task<void> reduce(std::uint64_t epoch, Ballot ballot, std::size_t part);
  ReduceTask reduce_task(const Ballot& ballot, std::size_t part);
  void issue(const Ballot& ballot, std::size_t part, Reduced reduced);
  void refuse(const Ballot& ballot, std::size_t part, const std::vector<RefusedInput>& refused,
              bool late);
  bool consider_hold();
  Task<void> decode_then_hold(std::uint64_t epoch, VectorOfAnswers vector);
  void hold(const Ballot& ballot, const VectorOfAnswers& vector);

  // codecs.cpp: which codec goes over which link, and what that costs
  double link_rate(std::size_t member);  ///< bytes/s; 0 unknown
  void pick_part_codecs(OwnContribution& own);
  [[nodiscard]] std::shared_ptr<const compress::Codec> pick_answer_codec(std::size_t part);
  void note_outcome(std::uint64_t round);
  bool worth_saying(const Picked& picked, const Picked& before);
  [[nodiscard]] Duration encode_cost(const OwnContribution& own) const;
  [[nodiscard]] Duration decode_cost(const VectorOfAnswers& vector,
                                     const std::map<Hash256, StoredAnswer>& answers) const;
  [[nodiscard]] Duration reduce_cost(const ReduceTask& task) const;

  // ballots.cpp: leaders
  void consider_control();
  Control free_control(const std::set<std::size_t>& staying);
  void record_control(std::size_t from, const Ballot& ballot, const Control& control);
  void accept_control(const Ballot& ballot, const Control& control);
  void record_prepare(std::size_t from, const Ballot& ballot);
  void record_promise(std::size_t from, const Ballot& ballot, const Promise& promise);
  [[nodiscard]] Promise own_promise() const;
  void start_ballot();
  void consider_propose();
  void propose();
  void plan_parts(Control& control, const std::set<std::size_t>& staying);
  [[nodiscard]] bool names_every_answer(const Control& control) const;
  void back_off();
  View next_view(const std::set<std::size_t>& staying) const;

  // commit.cpp: votes and what follows from them
  void record_vote(std::size_t from, const Ballot& ballot, const Hold& vote);
  bool consider_commit();
  void commit(const Ballot& ballot, const VectorOfAnswers& vector);
  [[nodiscard]] CodecState state_after_commit(const VectorOfAnswers& vector) const;
  void settle_own(const OwnContribution& own, const RoundRecord& record, std::size_t me,
                  bool refused);
  void settle_included(const OwnContribution& own, const compress::CodecContext& context,
                       std::size_t part, Range granules, std::span<const float> s);
  void settle_residual(const Committed& done);
  void fold_residual(const Committed& done);
  void report_lost(const Committed& done);
  void note_loss(std::string sentence);
  void open_next(const Committed& done, const CodecState& next_state);
  void compare_states(const Committed& done);
  void go_alone();

  // sync.cpp: timers, stragglers, joiners, branches
  [[nodiscard]] bool active() const;
  void on_tick();
  void consider_recovery();
  bool consider_minority(std::size_t usable);
  void nudge();
  [[nodiscard]] Fetch what_is_here() const;
  void say_stale(const PeerId& to);
  void on_stale(const PeerId& from, const Header& header, const Stale& stale);
  void on_fetch(const PeerId& from, const Header& header, const Fetch& fetch);
  void send_vector(const PeerId& to, Header header, const VectorOfAnswers& vector,
                   const std::map<Hash256, StoredAnswer>& answers, const std::set<Hash256>& have);
  void send_again(const PeerId& to, std::size_t index, std::set<Hash256> have);
  /// Whether what the peer lacks is not merely still on its way.
  [[nodiscard]] bool lost_to(const PeerId& peer) const;
  void behind(const PeerId& from, std::uint64_t their_round, const View* their_view);

  // state.cpp: the replicated state for joiners and repairs
  void on_join(const PeerId& from, const Header& header, const Join& join);
  void on_state_request(const PeerId& from, const Header& header, const StateRequest& request);
  void serve_state();
  void on_state_reply(const PeerId& from, const Message& message, const StateReply& reply);
  void adopt(const Header& header, const StateReply& reply, CodecState codec_state);
  [[nodiscard]] std::optional<Hash256> state_hash();
  void need_state(const std::string& why, bool as_joiner);
  void ask_for_state();
  [[nodiscard]] bool may_ask_for_state() const;
  void note_asked(const PeerId& peer);
  [[nodiscard]] const RoundRecord* find_record(std::uint64_t round) const;

  [[nodiscard]] MemberId self() const { return {net_.self(), net_.own_session()}; }
  [[nodiscard]] bool usable(std::size_t member) const;
  [[nodiscard]] std::set<std::size_t> usable_members() const;
  [[nodiscard]] bool is_leader() const;
  /// Whether a peer's view can be one of this model's.
  [[nodiscard]] bool fits_model(const View& view) const;
  [[nodiscard]] std::uint64_t random_branch();

  Loop& loop_;
  Net& net_;
  GroupHost& host_;
  const std::shared_ptr<const ParamMap> shared_map_;  ///< with what is offloaded
  const ParamMap& map_;
  const CodecChoice answer_codec_;
  const MayCut may_cut_;
  GroupOptions options_;
  Log log_;
  Rng rng_;
  std::shared_ptr<bool> lives_;  ///< callbacks that outlive the engine look at it first

  // where the run stands
  std::uint64_t branch_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t returned_ = 0;  ///< last round whose mean the worker has
  Hash256 returned_hash_;       ///< what the worker was given for it
  bool owed_ = false;           ///< as RoundRecord::owed() of it
  std::uint64_t flushes_ = 0;   ///< rounds in a row that the worker brought nothing to
  struct End {
    bool stop = false;
    bool owed = false;
  };
  End end_;  ///< what the last committed round said of the end of the run
  double work_ = 0;
  RoundState cur_;
  std::uint64_t epoch_ = 0;  ///< counts replacements of cur_, for coroutines that come back
  std::deque<Committed> kept_;
  std::deque<RoundRecord> records_;
  std::deque<std::pair<PeerId, Message>> ahead_;

  // what is owed
  compress::Carry carry_;
  std::vector<float> residual_;  ///< the owner's, flat; zero where we own nothing
  NormReference norms_;          ///< of the part we own

  // which codecs
  Picked parts_picked_;                                  ///< for the parts that others own
  Picked answer_picked_;                                 ///< for the answer of the part we own
  std::map<PeerId, std::array<double, 10>> link_rates_;  ///< of the last rounds, as seen then
  std::uint64_t picked_round_ = 0;                       ///< the last one with a choice
  TimePoint picks_said_{Duration::min() / 2};
  TimePoint contributed_at_{};
  double predicted_s_ = 0;  ///< of the last round
  double achieved_s_ = 0;

  // membership
  bool member_ = false;   ///< cur_ is a round of ours
  bool joining_ = false;  ///< we ask to be admitted
  double speed_ = 1;
  std::map<PeerId, Member> wishes_;  ///< who asks to be admitted
  std::set<MemberId> leaving_;
  std::map<PeerId, std::uint64_t> state_waiters_;  ///< peer -> round whose fate it must learn
  std::set<PeerId> served_;                        ///< who was sent the state and is not heard yet

  // repair
  bool state_needed_ = false;
  bool repair_ = false;  ///< the worker's state differs from the group's
  std::size_t asked_ = 0;
  std::optional<TimePoint> state_asked_;
  Duration state_wait_ = limits::kDeadlineMin;  ///< for the state, until another peer is asked
  PeerId state_from_;                           ///< whom we asked last
  TimePoint join_asked_{};

  // time
  LearntDeadline contribution_deadline_;
  LearntDeadline round_deadline_;
  TimePoint progress_{};  ///< last commit or restore, part of a round or request of the state
  TimePoint backoff_until_{};
  TimePoint minority_since_ = kNever;
  TimePoint nudge_at_{};
  std::map<PeerId, TimePoint> stale_said_;
  std::optional<std::uint64_t> timer_;
  Signal changed_;
  std::vector<Loop::TaskId> tasks_;

  std::deque<PendingSend> pending_;
  bool advancing_ = false;
  bool finishing_ = false;
  bool closed_ = false;
  std::string closed_why_;
  GroupStats stats_;
};

}  // namespace shoal::comm
