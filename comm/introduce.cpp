#include <algorithm>
#include <optional>
#include <utility>

#include "comm/limits.h"
#include "comm/membership.h"

namespace shoal::comm {
namespace {

// Another guest with the same line may take our place at the inviter's; then we ask again.
constexpr Duration kAskAgain = std::chrono::seconds(2);

Message enrolment(const Invite& invite, const Identity& identity, PeerCard card) {
  const auto text = enrolment_text(invite.run, invite.guest().id());
  const Signature signature = identity.sign(SignedAs::kEnrolment, text);
  Message message;
  message.body = Enrol{std::move(card), {signature.begin(), signature.end()}};
  return message;
}

std::vector<std::string> texts(const std::vector<Address>& addresses) {
  std::vector<std::string> out;
  for (const Address& address : addresses) {
    out.push_back(address.text());
  }
  return out;
}

}  // namespace

std::vector<std::byte> enrolment_text(std::uint64_t run, const PeerId& guest) {
  ByteWriter out;
  out.put(run);
  out.put_bytes(guest.key);
  return out.take();
}

Task<Result<Roster>> introduce(Loop& loop, Invite invite, Identity identity, PeerCard card,
                               Duration patience, Log log) {
  Signal changed(loop);
  std::optional<Result<Roster>> outcome;
  Roster heard;
  std::string trouble = "it was not reached at any of its addresses";
  SessionHandlers handlers;
  handlers.membership = [&](const PeerId& from, const Message& message) {
    const auto* page = std::get_if<Roster>(&message.body);
    if (page == nullptr || from != invite.inviter) {
      return;
    }
    if (heard.peers.size() + page->peers.size() <= 2 * limits::kPeersMax) {
      heard.peers.insert(heard.peers.end(), page->peers.begin(), page->peers.end());
    }
    if (!page->run_keys.empty()) {  // they stand in the last page
      heard.run_keys = page->run_keys;
      outcome.emplace(heard);
      changed.notify();
    }
  };
  handlers.refused = [&](const PeerId&, const Refuse& refuse, bool) {
    outcome.emplace(network_error("the inviter refused: " + refuse.sentence));
    changed.notify();
  };
  handlers.dial_failed = [&](const DialFailed& failed) { trouble = failed.sentence; };
  SessionOptions options;
  options.facts.run = invite.run;
  options.facts.observer = true;
  options.name = card.name;
  options.draw_session = [] { return random_u64() | 1U; };
  Session session(loop, std::move(options), std::move(handlers), log);
  session.allow(invite.inviter, texts(invite.addresses));

  const TimePoint deadline = loop.now() + patience;
  std::optional<TimePoint> asked;
  while (!outcome && loop.now() < deadline) {
    const bool due = !asked || loop.now() >= *asked + kAskAgain;
    if (due && session.alive(invite.inviter) &&
        session.send(invite.inviter, Class::kControl, enrolment(invite, identity, card)) ==
            SendResult::kOk) {
      asked = loop.now();
    }
    co_await changed.wait(std::min(deadline, loop.now() + std::chrono::milliseconds(50)));
  }
  if (outcome) {
    session.leave("introduced");
    co_return std::move(*outcome);
  }
  co_return network_error(
      "the inviter " + invite.inviter.short_id() + " of run \"" + invite.run_name +
      "\" does not let us in: " + (asked ? "it was asked and did not answer" : trouble));
}

}  // namespace shoal::comm
