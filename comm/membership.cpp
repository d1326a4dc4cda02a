#include "comm/membership.h"

#include <algorithm>
#include <utility>

#include "comm/limits.h"
#include "ops/base/check.h"

namespace shoal::comm {
namespace {

// A connection that breaks and comes back within one life of a peer loses what was on its way, and
// nobody says so. News are therefore told again, for longer than such a gap can last.
constexpr int kTellTimes = 4;
constexpr Duration kTellAgain = limits::kSuspect;

/// Rosters of these peers that each fit a header frame, run keys beside them; at least one.
std::vector<Roster> pages_of(const std::vector<PeerCard>& cards) {
  constexpr std::size_t kTableBytes = 64;  // offsets, lengths and padding, of a card or an address
  std::vector<Roster> pages(1);
  std::size_t bytes = 0;
  for (const PeerCard& card : cards) {
    std::size_t more = kTableBytes + sizeof card.id + card.name.size();
    for (const std::string& address : card.addresses) {
      more += kTableBytes + address.size();
    }
    if (bytes + more > limits::kHeaderBytesMax / 2) {
      pages.emplace_back();
      bytes = 0;
    }
    bytes += more;
    pages.back().peers.push_back(card);
  }
  return pages;
}

}  // namespace

Membership::Membership(Loop& loop, MembershipOptions options, Log log)
    : loop_(loop), options_(std::move(options)), log_(std::move(log)) {
  const PeerId self = options_.identity.id();
  peers_[self] = {self, options_.name, options_.addresses};
  if (options_.invites) {
    guest_ = invite().guest().id();
  }
}

Membership::~Membership() {
  if (timer_) {
    loop_.cancel_timer(*timer_);
  }
}

Invite Membership::invite() const {
  return Invite::make(options_.identity, options_.run, options_.run_name, options_.addresses);
}

std::vector<PeerCard> Membership::roster() const {
  std::vector<PeerCard> all;
  for (const auto& [id, card] : peers_) {
    all.push_back(card);
  }
  return all;
}

void Membership::install(SessionHandlers& handlers) {
  handlers.accepted = [this](const PeerId& peer, const Hello& hello) { on_accepted(peer, hello); };
  handlers.membership = [this](const PeerId& from, const Message& message) {
    on_message(from, message);
  };
}

void Membership::start(Session& session, const std::vector<PeerCard>& peers) {
  session_ = &session;
  for (const PeerCard& card : peers) {
    learn(card);
  }
  if (options_.invites) {
    session.allow(guest_, {});
  }
}

bool Membership::learn(const PeerCard& card) {
  const auto known = peers_.find(card.id);
  const bool fresh = known == peers_.end();
  if (card.id == options_.identity.id() || card.id == guest_ ||
      (!fresh && (known->second.addresses == card.addresses || card.addresses.empty()))) {
    return false;
  }
  if (fresh && peers_.size() >= limits::kPeersMax) {
    session_->count("roster-full");
    return false;
  }
  peers_[card.id] = card;
  session_->allow(card.id, card.addresses);
  return fresh;
}

void Membership::on_accepted(const PeerId& peer, const Hello& hello) {
  const auto known = peers_.find(peer);
  if (known == peers_.end() || hello.observer) {
    return;  // a guest says what it wants by itself
  }
  known->second.name = hello.name;
  if (!hello.addresses.empty() && hello.addresses != known->second.addresses) {
    known->second.addresses = hello.addresses;
    session_->allow(peer, hello.addresses);
  }
  // It may have missed news while it was away.
  send(peer, pages_of(roster()));
}

void Membership::send(const PeerId& peer, const std::vector<Roster>& pages) {
  for (const Roster& page : pages) {
    Message message;
    message.body = page;
    session_->send(peer, Class::kControl, std::move(message));
  }
}

void Membership::on_message(const PeerId& from, const Message& message) {
  if (const auto* enrol = std::get_if<Enrol>(&message.body)) {
    on_enrol(from, *enrol);
  } else if (const auto* news = std::get_if<Roster>(&message.body)) {
    on_roster(from, *news);
  }
}

std::optional<Refuse> Membership::judge(const Enrol& enrol) const {
  const PeerId& id = enrol.card.id;
  if (!verify(id, SignedAs::kEnrolment, enrolment_text(options_.run, guest_), enrol.signature)) {
    return Refuse{RefuseReason::kNotAllowed,
                  "the joiner did not prove the key that it wants to enrol"};
  }
  if (id == options_.identity.id()) {
    return Refuse{RefuseReason::kNotAllowed,
                  "the joiner has the inviter's own key; give it another SHOAL_HOME"};
  }
  if (peers_.size() >= limits::kPeersMax && !peers_.contains(id)) {
    return Refuse{RefuseReason::kFull, "the run knows as many peers as it can"};
  }
  return std::nullopt;
}

void Membership::on_enrol(const PeerId& guest, const Enrol& enrol) {
  if (!options_.invites || guest != guest_) {
    session_->penalise(guest, "enrol-uninvited");
    return;
  }
  if (auto refusal = judge(enrol)) {
    session_->refuse(guest, std::move(*refusal));
    return;
  }
  if (learn(enrol.card)) {
    log_.info("peer " + enrol.card.id.short_id() + " (" + enrol.card.name +
              ") was let in by our invitation");
    spread({enrol.card});
  }
  auto answer = pages_of(roster());
  answer.back().run_keys = options_.run_keys;
  send(guest, answer);
}

void Membership::on_roster(const PeerId& from, const Roster& news) {
  if (from == guest_ || !peers_.contains(from)) {
    session_->penalise(from, "roster-of-a-guest");
    return;
  }
  std::vector<PeerCard> fresh;
  for (const PeerCard& card : news.peers) {
    // Of a known peer only its own hello may say where it is.
    if (!peers_.contains(card.id) && learn(card)) {
      fresh.push_back(card);
    }
  }
  spread(fresh);
}

void Membership::spread(const std::vector<PeerCard>& fresh) {
  if (fresh.empty()) {
    return;
  }
  for (const PeerCard& card : fresh) {
    news_.push_back({card, kTellTimes});
  }
  if (timer_) {
    loop_.cancel_timer(*timer_);
  }
  tell_news();
}

void Membership::tell_news() {
  timer_.reset();
  std::vector<PeerCard> cards;
  for (News& news : news_) {
    cards.push_back(news.card);
    --news.times_left;
  }
  const auto pages = pages_of(cards);
  std::erase_if(news_, [](const News& news) { return news.times_left == 0; });
  for (const PeerId& peer : session_->alive_peers()) {
    send(peer, pages);
  }
  if (!news_.empty()) {
    timer_ = loop_.add_timer(loop_.now() + kTellAgain, [this] { tell_news(); });
  }
}

}  // namespace shoal::comm
