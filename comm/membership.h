#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/identity.h"
#include "comm/invite.h"
#include "comm/loop.h"
#include "comm/session.h"
#include "ops/base/log.h"

namespace shoal::comm {

struct MembershipOptions {
  Identity identity;
  std::string name;                    ///< of this peer, for people
  std::vector<std::string> addresses;  ///< that it announces
  std::uint64_t run = 0;
  std::string run_name;
  std::string run_keys;  ///< sorted `key=value` lines, for joiners
  bool invites = false;  ///< whether joiners may enrol here
};

/// Who may connect: the roster, which any member may extend by enrolling a joiner, and which all
/// members come to share by telling each other. It never removes anybody; who takes part in a
/// round is decided by views.
/// Threads: the loop's only.
class Membership {
 public:
  Membership(Loop& loop, MembershipOptions options, Log log);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// Fills in the handlers that the session needs for us; the rest are the caller's.
  void install(SessionHandlers& handlers);
  /// Lets the first peers connect, and guests if we invite.
  void start(Session& session, const std::vector<PeerCard>& peers);

  /// What to paste elsewhere to join this run by us. Requires: options.invites.
  [[nodiscard]] Invite invite() const;
  /// All peers of the run that we know of, this one too, in order of id.
  [[nodiscard]] std::vector<PeerCard> roster() const;

 private:
  void on_accepted(const PeerId& peer, const Hello& hello);
  void on_message(const PeerId& from, const Message& message);
  void on_enrol(const PeerId& guest, const Enrol& enrol);
  void on_roster(const PeerId& from, const Roster& news);
  void send(const PeerId& peer, const std::vector<Roster>& pages);
  bool learn(const PeerCard& card);
  void spread(const std::vector<PeerCard>& fresh);
  void tell_news();
  [[nodiscard]] std::optional<Refuse> judge(const Enrol& enrol) const;

  struct News {
    PeerCard card;
    int times_left = 0;
  };

  Loop& loop_;
  MembershipOptions options_;
  Log log_;
  Session* session_ = nullptr;
  PeerId guest_;  ///< the key that our invitations carry
  std::map<PeerId, PeerCard> peers_;
  std::vector<News> news_;
  std::optional<std::uint64_t> timer_;
};

/// What an Enrol is signed over: the run and the guest's key, so that it is worth nothing
/// elsewhere.
std::vector<std::byte> enrolment_text(std::uint64_t run, const PeerId& guest);

/// A joiner's first steps, on a loop whose endpoint was opened with `invite.guest()`: connects to
/// the inviter, enrols `card` (of the joiner's own `identity`) and returns the peers and keys of
/// the run. The joiner then closes that endpoint and opens one under its own identity.
/// Errors: kNetwork when the inviter cannot be reached, is another, or refuses, in words.
Task<Result<Roster>> introduce(Loop& loop, Invite invite, Identity identity, PeerCard card,
                               Duration patience, Log log);

}  // namespace shoal::comm
