#include "comm/round/engine.h"

#include <algorithm>
#include <cmath>

namespace shoal::comm {
namespace {

struct EncodedOwn {
  std::vector<Bytes> parts;
  std::string problem;
};

EncodedOwn encode_parts(const ParamMap& map, const View& view, const OwnContribution& own,
                        compress::CodecContext context) {
  EncodedOwn out;
  out.parts.resize(view.size());
  for (std::size_t p = 0; p < view.size(); ++p) {
    const Range part = view.part(p);
    if (part.empty() || own.empty(part)) {
      continue;
    }
    ByteWriter w;
    const auto s =
        std::span<const float>(*own.sum).subspan(static_cast<std::size_t>(part.begin * kGranule),
                                                 static_cast<std::size_t>(part.size() * kGranule));
    const auto status = compress::encode_granules(*own.codecs[p], map, part, s, context, w);
    if (!status.ok()) {
      out.problem = status.error().message;
      return out;
    }
    out.parts[p] = w.take_bytes();
  }
  return out;
}

}  // namespace

GroupMean::Engine::Engine(Loop& loop, Net& net, GroupHost& host, const ParamMap& map,
                          CodecChoice answer_codec, GroupOptions options, Log log)
    : loop_(loop),
      net_(net),
      host_(host),
      shared_map_(std::make_shared<const ParamMap>(map)),
      map_(*shared_map_),
      answer_codec_(std::move(answer_codec)),
      may_cut_(cuts_of(answer_codec_.first(), shared_map_)),
      options_(std::move(options)),
      log_(std::move(log)),
      rng_(mix(options_.run_seed, net.own_session()), 0x726f756e64),
      lives_(std::make_shared<bool>(true)),
      carry_(map_),
      residual_(static_cast<std::size_t>(map.flat_size()), 0.0F),
      contribution_deadline_(from_seconds(30 * options_.patience),
                             from_seconds(seconds(limits::kDeadlineMin) * options_.patience),
                             limits::kDeadlineMax),
      round_deadline_(from_seconds(40 * options_.patience),
                      from_seconds(seconds(limits::kDeadlineMin) * options_.patience),
                      limits::kDeadlineMax),
      changed_(loop) {
  cur_.codec_state = answer_codec_.first()->make_state(map_, options_.run_seed);
}

compress::CodecContext GroupMean::Engine::answer_context(std::uint64_t round,
                                                         const CodecState& state) const {
  return {.run_seed = options_.run_seed, .round = round, .state = state.get()};
}

compress::CodecContext GroupMean::Engine::sender_context(std::uint64_t round,
                                                         std::size_t member) const {
  compress::CodecContext context = answer_context(round, cur_.codec_state);
  context.sender = std::hash<PeerId>{}(cur_.view.members[member].id.peer);
  return context;
}

GroupMean::Engine::~Engine() {
  *lives_ = false;
  if (timer_) {
    loop_.cancel_timer(*timer_);
  }
  for (const auto id : tasks_) {
    loop_.cancel(id);
  }
}

void GroupMean::Engine::start(std::uint64_t branch, View first_view, std::uint64_t committed_round,
                              Hash256 parent) {
  SHOAL_CHECK(first_view.bounds.size() == first_view.size() + 1, "a view has bounds");
  branch_ = branch;
  committed_ = committed_round;
  returned_ = committed_round;
  member_ = first_view.index_of(self()).has_value();
  SHOAL_CHECK(member_, "the first view holds this peer");
  open(committed_round + 1, first_view, parent, cur_.codec_state);
  drain_ahead();
  advance();
}

void GroupMean::Engine::open(std::uint64_t round, const View& view, const Hash256& parent,
                             CodecState codec_state) {
  cur_ = RoundState{};
  cur_.codec_state = std::move(codec_state);
  cur_.round = round;
  cur_.view = view;
  cur_.parent = parent;
  cur_.me = view.index_of(self()).value_or(view.size());
  ++epoch_;
  progress_ = loop_.now();
  backoff_until_ = {};
}

Mean GroupMean::Engine::restored_mean() {
  returned_ = committed_;
  owed_ = end_.owed;
  Mean m;
  m.restored = true;
  m.record.round = committed_;
  m.record.hash = cur_.parent;
  m.record.view = cur_.view;
  m.record.next_view = cur_.view;
  m.record.stop = end_.stop;
  return m;
}

RoundRecord GroupMean::Engine::record_of(const RoundState& r, const VectorOfAnswers& vector,
                                         const std::map<Hash256, StoredAnswer>& answers) const {
  RoundRecord record;
  record.round = r.round;
  record.hash = vector.hash;
  record.view = r.view;
  record.next_view = vector.control.next_view;
  record.scalars = vector.control.scalars;
  record.checkpoint = vector.control.checkpoint;
  record.stop = vector.control.stop;
  record.contributors.resize(r.parts());
  record.skipped.resize(r.parts());
  for (std::size_t p = 0; p < r.parts(); ++p) {
    if (const auto it = answers.find(vector.answers[p]); it != answers.end()) {
      record.contributors[p] = it->second.answer.contributors;
      record.skipped[p] = it->second.answer.skipped;
    }
  }
  return record;
}

std::vector<compress::WeightRun> GroupMean::Engine::divisors_of(
    const VectorOfAnswers& vector, const std::map<Hash256, StoredAnswer>& answers) const {
  std::vector<compress::WeightRun> runs;
  for (const auto& hash : vector.answers) {
    if (const auto it = answers.find(hash); it != answers.end()) {
      const auto& d = it->second.answer.divisors;
      runs.insert(runs.end(), d.begin(), d.end());
    }
  }
  return runs;
}

Result<Mean> GroupMean::Engine::deliver(const RoundRecord& record, std::vector<float> values,
                                        std::vector<compress::WeightRun> divisors) {
  Mean m;
  m.record = record;
  m.values = std::move(values);
  m.divisors = std::move(divisors);
  note_outcome(record.round);
  returned_ = record.round;
  returned_hash_ = record.hash;
  owed_ = record.owed();
  return m;
}

Task<Result<Mean>> GroupMean::Engine::mean(std::span<const float> x, double weight,
                                           CodecChoice codec) {
  const bool flush = x.empty() && weight == 0;
  SHOAL_CHECK(flush || x.size() == map_.flat_size(), "a contribution covers the flat array");
  flushes_ = flush ? flushes_ + 1 : 0;
  // Contributions build on the carry, and the carry is settled at commit.
  if (!co_await settled() && !state_needed_ && !repair_ && !closed_) {
    co_return network_error("round " + std::to_string(returned_) +
                            " was never committed: too few of its members are left; see "
                            "sync.quorum to go on with a minority");
  }
  serve_state();
  carry_.use(*codec.first());
  const bool sound = !closed_ && !state_needed_ && !repair_;
  if (sound && returned_ < committed_) {
    co_return co_await catch_up(x, weight);
  }
  // After a repair in the middle of a round there may be a contribution of ours in it already.
  const bool contributes = sound && !cur_.own;
  if (contributes) {
    contribute(x, weight, std::move(codec));
  }
  co_return co_await await_round(returned_ + 1, contributes, x, weight);
}

void GroupMean::Engine::contribute(std::span<const float> x, double weight, CodecChoice codec) {
  OwnContribution own;
  own.weight = weight > 0 && std::isfinite(weight) ? weight : 0;
  own.choice = std::move(codec);
  fill(own, x);
  contributed_at_ = loop_.now();
  cur_.own = std::move(own);
  run(encode_own(epoch_));
  touch();
  advance();
}

void GroupMean::Engine::fill(OwnContribution& own, std::span<const float> x) const {
  const Range whole = cur_.view.whole();
  own.weights = carry_.weights(own.weight, whole);
  if (own.empty(whole)) {
    return;
  }
  auto sum = std::make_shared<std::vector<float>>(static_cast<std::size_t>(map_.flat_size()));
  if (own.weight > 0) {
    carry_.contribution(own.weight, x, *sum);
  } else {
    for (const auto& run : own.weights) {
      if (run.weight > 0) {
        const auto begin = static_cast<std::ptrdiff_t>(run.granules.begin * kGranule);
        const auto end = static_cast<std::ptrdiff_t>(run.granules.end * kGranule);
        const auto values = carry_.values();
        std::copy(values.begin() + begin, values.begin() + end, sum->begin() + begin);
      }
    }
  }
  own.sum = std::move(sum);
}

/// What can't be encoded (NaN, Inf) is not sent: what waited before it is, on its own.
void GroupMean::Engine::withdraw(const std::string& problem) {
  log_.warning("this peer's own contribution is left out of round " + std::to_string(cur_.round) +
               ": " + problem);
  ++stats_.refused["own-not-finite"];
  auto& own = *cur_.own;
  if (own.weight > 0) {
    own.weight = 0;
    fill(own, {});
  } else {
    own.weights = {{cur_.view.whole(), 0}};
  }
}

/// Waits for the round's mean: as soon as this member holds every answer, or when it is committed.
Task<Result<Mean>> GroupMean::Engine::await_round(std::uint64_t round, bool contributed,
                                                  std::span<const float> x, double weight) {
  progress_ = loop_.now();
  while (!closed_) {
    const bool sound = !state_needed_ && !repair_;
    if (!sound && !state_needed_) {
      repair_ = false;
      co_return restored_mean();
    }
    if (sound && committed_ >= round) {
      if (contributed && kept_.back().record.round == round && kept_.back().decoded) {
        const auto& done = kept_.back();
        co_return deliver(done.record, *done.decoded, divisors_of(done.vector, done.answers));
      }
      co_return co_await catch_up(contributed ? std::span<const float>{} : x, weight);
    }
    if (sound && contributed && cur_.held && cur_.decoded &&
        cur_.decoded_hash == cur_.held->vector.hash) {
      const auto record = record_of(cur_, cur_.held->vector, cur_.answers);
      co_return deliver(record, *cur_.decoded, divisors_of(cur_.held->vector, cur_.answers));
    }
    const TimePoint end = progress_ + options_.give_up;
    if (loop_.now() >= end) {
      co_return no_progress(round);
    }
    co_await changed_.wait(end);
  }
  co_return Error{Code::kCancelled, "left the group: " + closed_why_, {}};
}

Error GroupMean::Engine::no_progress(std::uint64_t round) const {
  const auto waited = std::to_string(static_cast<int>(seconds(options_.give_up))) + " s";
  if (state_needed_) {
    return network_error("the run went on without this peer, and nobody of it sent its state for " +
                         waited + "; if it still goes on, join it again");
  }
  return network_error("round " + std::to_string(round) + " made no progress for " + waited +
                       ": too few of its " + std::to_string(cur_.view.size()) +
                       " members answer; see sync.quorum to go on with a minority");
}

/// The group went ahead while the worker computed: what it computed waits in the carry, and the
/// round's mean comes from what was kept; when it is no longer kept, the state does.
Task<Result<Mean>> GroupMean::Engine::catch_up(std::span<const float> x, double weight) {
  const std::uint64_t round = returned_ + 1;
  if (!x.empty() && weight > 0) {
    std::vector<float> sum(x.size());
    carry_.contribution(weight, x, sum);
    if (std::all_of(sum.begin(), sum.end(), [](float v) { return std::isfinite(v); })) {
      carry_.settle_left_out({0, map_.granule_count()}, sum, weight);
      ++stats_.left_out;
    }
  }
  for (const auto& done : kept_) {
    if (done.record.round != round) {
      continue;
    }
    const auto record = done.record;
    auto divisors = divisors_of(done.vector, done.answers);
    const auto decoded = co_await decode(done.vector, done.answers, round, done.codec_state);
    SHOAL_CHECK(decoded.values != nullptr, "answers were judged before they were held");
    co_return deliver(record, *decoded.values, std::move(divisors));
  }
  need_state("the group is " + std::to_string(committed_ - returned_) + " rounds ahead", false);
  progress_ = loop_.now();
  while (!closed_ && state_needed_) {
    if (loop_.now() >= progress_ + options_.give_up) {
      co_return network_error("nobody sent the state of the run in time");
    }
    co_await changed_.wait(progress_ + options_.give_up);
  }
  if (closed_) {
    co_return Error{Code::kCancelled, "left the group: " + closed_why_, {}};
  }
  repair_ = false;
  co_return restored_mean();
}

Task<void> GroupMean::Engine::encode_own(std::uint64_t epoch) {
  if (epoch != epoch_ || !cur_.own) {
    co_return;
  }
  const compress::CodecContext context = sender_context(cur_.round, cur_.me);
  pick_part_codecs(*cur_.own);
  while (!cur_.own->empty(cur_.view.whole())) {
    // The task owns what it reads: the round may be over before it has run.
    auto encode = [map = shared_map_, view = cur_.view, own = *cur_.own, context,
                   state = cur_.codec_state] { return encode_parts(*map, view, own, context); };
    auto encoded = co_await loop_.offload(Offload::kCodec, encode, encode_cost(*cur_.own));
    if (epoch != epoch_ || !cur_.own) {
      co_return;
    }
    if (encoded.problem.empty()) {
      cur_.own->encoded = std::move(encoded.parts);
      break;
    }
    withdraw(encoded.problem);
  }
  cur_.own->ready = true;
  advance();
}

Task<GroupMean::Engine::Decoded> GroupMean::Engine::decode(const VectorOfAnswers& vector,
                                                           std::map<Hash256, StoredAnswer> answers,
                                                           std::uint64_t round, CodecState state) {
  const Duration cost = decode_cost(vector, answers);
  auto decode_all = [map = shared_map_, context = answer_context(round, state), state,
                     codec = answer_codec_.first()->properties().wire_id, hashes = vector.answers,
                     stored = std::move(answers)]() -> Decoded {
    auto flat = std::make_shared<std::vector<float>>(static_cast<std::size_t>(map->flat_size()));
    for (const auto& hash : hashes) {
      const auto it = stored.find(hash);
      if (it == stored.end()) {
        continue;  // an empty part
      }
      const Range g = it->second.answer.granules;
      const auto part = std::span(*flat).subspan(static_cast<std::size_t>(g.begin * kGranule),
                                                 static_cast<std::size_t>(g.size() * kGranule));
      if (!decode_answer(*map, it->second.answer, context, it->second.encoded, part).ok()) {
        return {};
      }
    }
    auto after = state_after(state, codec, context, hashes, stored);
    return after.ok() ? Decoded{flat, std::move(after).value()} : Decoded{};
  };
  co_return co_await loop_.offload(Offload::kCodec, decode_all, cost);
}

Task<bool> GroupMean::Engine::settled() {
  const TimePoint end = loop_.now() + options_.give_up;
  while (!closed_ && !state_needed_ && !repair_ && committed_ < returned_ && loop_.now() < end) {
    co_await changed_.wait(end);
  }
  co_return !closed_ && !state_needed_ && !repair_ && committed_ >= returned_;
}

Task<void> GroupMean::Engine::finish(Duration linger) {
  finishing_ = true;
  const TimePoint end = loop_.now() + linger;
  wake_later();
  while (!closed_ && loop_.now() < end) {
    bool others_done = committed_ >= returned_ && !state_needed_;
    if (others_done && !kept_.empty()) {
      const auto& last = kept_.back();
      for (std::size_t i = 0; i < last.record.view.size(); ++i) {
        const auto& id = last.record.view.members[i].id;
        const bool gone =
            leaving_.contains(id) || !net_.alive(id.peer) || net_.session_of(id.peer) != id.session;
        others_done = others_done && (id == self() || gone || last.votes.contains(i));
      }
    }
    if (others_done) {
      break;
    }
    co_await changed_.wait(std::min(end, loop_.now() + limits::kHeartbeat));
  }
  leave("done");
}

void GroupMean::Engine::leave(const std::string& reason) {
  if (closed_) {
    return;
  }
  closed_ = true;
  closed_why_ = reason;
  report_pending();
  for (const auto& peer : net_.alive_peers()) {
    Message m;
    m.header.branch = branch_;
    m.body = Bye{reason};
    static_cast<void>(net_.send(peer, Class::kControl, std::move(m)));
  }
  changed_.notify();
}

void GroupMean::Engine::report_pending() {
  const auto pending = carry_.pending();
  const auto most = std::max_element(pending.begin(), pending.end());
  if (most == pending.end() || !(*most > 0)) {
    return;
  }
  std::string sentence = "round " + std::to_string(committed_) + ": up to " +
                         std::to_string(static_cast<std::uint64_t>(std::llround(*most))) +
                         " samples of this peer were in no mean yet when it ended; a checkpoint "
                         "of its own keeps them";
  log_.warning(sentence);
  note_loss(std::move(sentence));
}

void GroupMean::Engine::save_private(ByteWriter& out) const {
  carry_.save(out);
  out.put(static_cast<std::uint64_t>(residual_.size()));
  out.put_bytes(std::as_bytes(std::span(residual_)));
}

Status GroupMean::Engine::load_private(ByteReader& in) {
  SHOAL_TRY(carry_.load(in));
  std::uint64_t size = 0;
  ByteSpan raw;
  if (!in.get(size) || size != residual_.size() || !in.get_bytes(size * sizeof(float), raw)) {
    return data_error("the residual in the checkpoint does not fit this model");
  }
  std::memcpy(residual_.data(), raw.data(), raw.size());
  return {};
}

Status GroupMean::Engine::load_codec_state(ByteSpan bytes) {
  SHOAL_ASSIGN(cur_.codec_state, read_state(cur_.codec_state, bytes));
  return {};
}

void GroupMean::Engine::run(Task<void> task) {
  std::erase_if(tasks_, [this](Loop::TaskId id) { return !loop_.running(id); });
  tasks_.push_back(loop_.spawn(std::move(task)));
}

bool GroupMean::Engine::usable(std::size_t member) const {
  const auto& id = cur_.view.members[member].id;
  if (id == self()) {
    return true;
  }
  return net_.alive(id.peer) && net_.session_of(id.peer) == id.session && !leaving_.contains(id);
}

std::set<std::size_t> GroupMean::Engine::usable_members() const {
  std::set<std::size_t> out;
  for (std::size_t i = 0; i < cur_.view.size(); ++i) {
    if (usable(i)) {
      out.insert(i);
    }
  }
  return out;
}

std::uint64_t GroupMean::Engine::random_branch() {
  const std::uint64_t b = rng_.next_u64();
  return b == 0 ? 1 : b;
}

}  // namespace shoal::comm
