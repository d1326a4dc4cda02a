#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/heartbeat.h"
#include "comm/hello.h"
#include "comm/loop.h"
#include "comm/net.h"
#include "comm/replay_window.h"
#include "ops/base/log.h"

namespace shoal::comm {

/// What we say of ourselves in every hello.
struct SessionOptions {
  RunFacts facts;
  std::string name;                    ///< clean text of at most limits::kNameBytesMax bytes
  std::vector<std::string> addresses;  ///< that we announce
  std::uint64_t rate = 0;              ///< bytes/s we give; 0 unknown
  std::function<std::uint64_t()> draw_session;  ///< 64 random bits for a session number
};

/// What heartbeats tell the others of us.
struct PeerStatus {
  std::uint64_t round = 0;
  std::uint64_t step = 0;
  float loss = 0;
  float samples_per_s = 0;
};

/// A row of the live table.
struct PeerInfo {
  PeerId id;
  std::string name;
  std::vector<std::string> addresses;
  std::string state;  ///< "alive", "silent", "closed", "connecting", "left", "banned", "observer",
                      ///< "refused: ..."
  PeerStatus status;
  Duration round_trip{0};
  LinkStats link;
};

/// Whom the session tells what is no business of the rounds. All are optional and may be called
/// from within any event; they may call any member of the session.
struct SessionHandlers {
  /// A hello was accepted, of a new life of the peer; observers too.
  std::function<void(const PeerId&, const Hello&)> accepted;
  /// A reason of the membership's own to refuse a hello that fits the run.
  std::function<std::optional<Refuse>(const PeerId&, const Hello&)> judge;
  /// Enrol and Roster, of peers whose hello was accepted.
  std::function<void(const PeerId&, const Message&)> membership;
  /// The peer refused us, or (`by_us`) we refused it; once a connection.
  std::function<void(const PeerId&, const Refuse&, bool by_us)> refused;
  std::function<void(const DialFailed&)> dial_failed;
};

/// Turns an endpoint's connections into peers of this run. On every connection both sides say
/// hello; a peer counts as alive once its hello fits and it has heard ours. Frames before that, of
/// an earlier life of the peer, or seen before are dropped and counted. Heartbeats go out by a
/// timer, independent of computing; silence, a closed connection or a goodbye end a life.
/// Threads: the loop's only.
class Session final : public Net {
 public:
  Session(Loop& loop, SessionOptions options, SessionHandlers handlers, Log log);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Lets a peer connect and dials its addresses, as Endpoint::allow. At most limits::kPeersMax.
  void allow(const PeerId& peer, const std::vector<std::string>& addresses);
  /// Closes the peer's session and refuses its key.
  void forget(const PeerId& peer);
  /// What the next heartbeats say.
  void set_status(const PeerStatus& status) { status_ = status; }
  /// Says goodbye to everybody: we leave cleanly. Close the endpoint with a linger afterwards.
  void leave(const std::string& reason);
  /// Answers a request of membership, or ends a peer's hopes, in words.
  void refuse(const PeerId& peer, Refuse refuse);

  /// Everyone we allowed, in order of id.
  [[nodiscard]] std::vector<PeerInfo> peers() const;
  /// Frames and events by their word, since the start.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& counters() const { return counters_; }

  [[nodiscard]] PeerId self() const override { return endpoint_.self(); }
  SendResult send(const PeerId& to, Class cls, Message message) override;
  [[nodiscard]] bool alive(const PeerId& peer) const override;
  [[nodiscard]] std::uint64_t session_of(const PeerId& peer) const override;
  [[nodiscard]] std::uint64_t own_session() const override { return own_session_; }
  void renew_session() override;
  [[nodiscard]] std::vector<PeerId> alive_peers() const override;
  [[nodiscard]] bool idle(const PeerId& peer) const override;
  [[nodiscard]] std::uint64_t rate_of(const PeerId& peer) const override;
  void penalise(const PeerId& peer, const std::string& reason) override;
  void count(const std::string& reason) override { ++counters_[reason]; }
  void set_receiver(Receiver* receiver) override { receiver_ = receiver; }

 private:
  /// All we know of one peer. Stays until the tick after `forget`, so that a callback that forgets
  /// a peer pulls nothing away from under its caller.
  struct Remote {
    std::vector<std::string> addresses;
    bool allowed = true;
    bool connected = false;
    bool left = false;
    TimePoint changed_at;       ///< when the connection came or went
    Hello hello;                ///< the accepted one
    std::uint64_t session = 0;  ///< of the accepted hello; 0 none
    bool heard = false;         ///< it has accepted a hello of our session
    bool alive = false;         ///< as last told to the receiver
    TimePoint hello_sent;
    TimePoint last_heard;
    std::deque<std::uint64_t> past_sessions;  ///< of lives that are over for good
    std::uint64_t windows_session = 0;        ///< whose frames the windows remember
    std::array<ReplayWindow, 2> windows;      ///< by class
    RoundTripMeter meter;
    PeerStatus status;
    std::string refusal;  ///< in words, of this connection; empty when none
    int penalty = 0;
    std::optional<TimePoint> banned_until;
  };

  Remote* find(const PeerId& peer);
  [[nodiscard]] const Remote* find(const PeerId& peer) const;
  void on_event(Event& event);
  void on_connected(const PeerId& peer);
  void on_closed(const PeerId& peer);
  void on_dropped(const Dropped& dropped);
  void on_arrived(const Arrived& arrived);
  void on_hello(const PeerId& peer, Remote& remote, const Header& header, const Hello& hello);
  void on_refuse(const PeerId& peer, Remote& remote, const Refuse& refuse);
  void on_bye(const PeerId& peer, Remote& remote, const Message& message);
  void dispatch(const PeerId& peer, Remote& remote, const Message& message);
  [[nodiscard]] std::optional<Refuse> judge(const PeerId& peer, const Header& header,
                                            const Hello& hello) const;
  /// Whether a frame after the hello belongs to the peer's present life and is new.
  bool belongs(const PeerId& peer, Remote& remote, const Arrived& arrived);
  void begin_life(const PeerId& peer, Remote& remote, std::uint64_t session);
  /// `for_good`: that session number is never accepted again.
  void end_life(const PeerId& peer, Remote& remote, bool for_good);
  void confirm(const PeerId& peer, Remote& remote);
  void set_alive(const PeerId& peer, Remote& remote, bool alive);
  void refuse_hello(const PeerId& peer, Remote& remote, const Refuse& refuse);
  void send_hello(const PeerId& peer, Remote& remote);
  SendResult post(const PeerId& peer, Remote& remote, Class cls, Message message);
  void add_penalty(const PeerId& peer, int points);
  void ban_the_bad();
  void ban(const PeerId& peer, Remote& remote);
  void tick();
  void tick(const PeerId& peer, Remote& remote, TimePoint now);
  [[nodiscard]] std::string state_of(const Remote& remote) const;

  Loop& loop_;
  Endpoint& endpoint_;
  SessionOptions options_;
  SessionHandlers handlers_;
  Log log_;
  Receiver* receiver_ = nullptr;
  std::map<PeerId, Remote> remotes_;
  std::map<std::string, std::uint64_t> counters_;
  std::uint64_t own_session_ = 0;
  /// Sequence numbers used, by class. One count for all receivers: it rises for each of them,
  /// whoever is forgotten and allowed again.
  std::array<std::uint64_t, 2> sent_{};
  std::vector<PeerId> bad_;  ///< over the limit of penalties, to be banned after this event
  PeerStatus status_;
  std::uint64_t timer_ = 0;
  TimePoint next_tick_;
};

}  // namespace shoal::comm
