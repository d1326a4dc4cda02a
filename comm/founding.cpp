#include "comm/founding.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "comm/limits.h"

namespace shoal::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Pairs that cannot reach each other (two behind home routers) do not keep a run from starting.
constexpr Duration kMeshPatience = seconds(5);
// Faster members may be heard before the founder; who is not told by then was not meant.
constexpr Duration kControlPatience = seconds(2);
constexpr Duration kAskAgain = milliseconds(500);

class Founding final : public Net::Receiver {
 public:
  Founding(Loop& loop, Net& net, const FoundingOptions& options)
      : changed(loop), loop_(loop), net_(net), options_(options) {
    net_.set_receiver(this);
  }
  Founding(const Founding&) = delete;
  Founding& operator=(const Founding&) = delete;
  ~Founding() override { net_.set_receiver(nullptr); }

  void on_alive(const PeerId&, bool) override { changed.notify(); }

  void on_message(const PeerId& from, const Message& message) override {
    const auto* control = std::get_if<Control>(&message.body);
    if (control != nullptr && message.header.round == 0) {
      on_control(from, message.header, control->next_view);
    } else if (const auto* join = std::get_if<Join>(&message.body)) {
      ready_[from] = {{from, message.header.session}, join->rate, join->speed};
    } else if (!std::holds_alternative<Bye>(message.body)) {
      on_early(from, message);
    }
    changed.notify();
  }

  /// One look at where we stand; the first view once it is known.
  std::optional<FirstView> step() {
    if (!told_ && options_.founder) {
      draw();
    }
    if (told_) {
      std::erase_if(early_, [&](const auto& e) { return e.second.header.branch != told_->branch; });
      told_->early = std::move(early_);
      return std::move(told_);
    }
    if (evidence_ && loop_.now() >= *evidence_ + kControlPatience) {
      FirstView none;
      none.running = true;
      return none;
    }
    say_ready();
    return std::nullopt;
  }

  /// Members that are there, we too.
  [[nodiscard]] std::size_t present() const { return net_.alive_peers().size() + 1; }
  /// Members that said they see enough others, we too.
  [[nodiscard]] std::size_t ready() const {
    return 1 + static_cast<std::size_t>(std::count_if(
                   ready_.begin(), ready_.end(), [&](const auto& e) { return stands(e.second); }));
  }

  Signal changed;

 private:
  [[nodiscard]] bool stands(const Member& member) const {
    return net_.alive(member.id.peer) && net_.session_of(member.id.peer) == member.id.session;
  }

  void on_control(const PeerId& from, const Header& header, const View& view) {
    if (!bounds_fit(view, options_.granules, options_.may_cut) || !view.index_of(from)) {
      net_.penalise(from, "first-view-of-another-model");
    } else if (!view.index_of(MemberId{net_.self(), net_.own_session()})) {
      evidence_ = evidence_.value_or(loop_.now() - kControlPatience);
    } else if (!told_ && !options_.founder) {
      told_.emplace();
      told_->branch = header.branch;
      told_->view = view;
    }
  }

  void on_early(const PeerId& from, const Message& message) {
    evidence_ = evidence_.value_or(loop_.now());
    early_bytes_ += message.payload.size();
    if (early_.size() >= limits::kEarlyMax || early_bytes_ > limits::kBulkQueueBytesMax) {
      net_.count("early-overflow");
    } else {
      early_.emplace_back(from, message);
    }
  }

  void say_ready() {
    const TimePoint now = loop_.now();
    const auto alive = net_.alive_peers();
    if (alive.empty()) {
      first_seen_.reset();
      return;
    }
    first_seen_ = first_seen_.value_or(now);
    const bool sees_enough =
        alive.size() + 1 >= options_.members || now >= *first_seen_ + kMeshPatience;
    if (!sees_enough || (said_ && now < *said_ + kAskAgain)) {
      return;
    }
    said_ = now;
    Message message;
    message.body = Join{options_.rate, options_.speed};
    for (const PeerId& peer : alive) {
      net_.send(peer, Class::kControl, message);
    }
  }

  void draw() {
    if (ready() < options_.members) {
      return;
    }
    View view;
    view.number = 1;
    view.members.push_back({{net_.self(), net_.own_session()}, options_.rate, options_.speed});
    for (const auto& [peer, member] : ready_) {
      if (view.members.size() < options_.members && stands(member)) {
        view.members.push_back(member);
        view.members.back().rate = net_.rate_of(peer);
      }
    }
    std::sort(view.members.begin(), view.members.end(),
              [](const Member& a, const Member& b) { return a.id < b.id; });
    view.bounds = balance_bounds(view.members, options_.granules, options_.may_cut);
    Message message;
    message.header.branch = options_.branch;
    Control control;
    control.next_view = view;
    message.body = std::move(control);
    // Also to those that are not in it: they learn that the run is on.
    for (const PeerId& peer : net_.alive_peers()) {
      net_.send(peer, Class::kControl, message);
    }
    told_.emplace();
    told_->branch = options_.branch;
    told_->view = std::move(view);
  }

  Loop& loop_;
  Net& net_;
  const FoundingOptions& options_;
  std::map<PeerId, Member> ready_;
  std::optional<FirstView> told_;
  std::optional<TimePoint> evidence_;  ///< since when we hear that the run is on
  std::optional<TimePoint> first_seen_;
  std::optional<TimePoint> said_;
  std::vector<std::pair<PeerId, Message>> early_;
  std::uint64_t early_bytes_ = 0;
};

}  // namespace

Task<Result<FirstView>> wait_for_members(Loop& loop, Net& net, FoundingOptions options,
                                         TimePoint deadline, Log log) {
  Founding founding(loop, net, options);
  std::size_t said = 0;
  TimePoint met = loop.now();
  for (;;) {
    if (auto first = founding.step()) {
      co_return std::move(*first);
    }
    const std::size_t present = founding.present();
    met = present > 1 ? loop.now() : met;
    if (loop.now() - met >= options.alone_within) {
      co_return network_error("nobody of the run can be reached; is it over?");
    }
    if (present != std::exchange(said, present) && present < options.members) {
      log.info("waiting for members: " + std::to_string(present) + " of " +
               std::to_string(options.members) + " are here");
    }
    if (loop.now() >= deadline) {
      co_return network_error("the run did not start: " + std::to_string(present) + " of " +
                              std::to_string(options.members) + " members were there in time" +
                              (present >= options.members && !options.founder
                                   ? ", but the one that makes the run was not heard"
                                   : ""));
    }
    co_await founding.changed.wait(std::min(deadline, loop.now() + milliseconds(100)));
  }
}

}  // namespace shoal::comm
