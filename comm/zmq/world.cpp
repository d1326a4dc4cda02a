#include "comm/zmq/world.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "comm/limits.h"

namespace shoal::comm {
namespace {

// Messages taken from one socket in a turn, so that a flood delays nothing else.
constexpr int kMessagesInTurn = 256;

int poll_ms(Duration d) {
  if (d <= Duration{0}) {
    return 0;
  }
  const Duration bounded = std::min<Duration>(d, std::chrono::hours(1));
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(bounded).count());
}

}  // namespace

ZmqEndpoint::Impl::Impl(Options given, std::unique_ptr<Sockets> sockets, Gate gate, Plug door,
                        std::uint16_t bound)
    : options(std::move(given)),
      port(bound),
      waker_(std::make_shared<const Waker>()),
      sockets_(std::move(sockets)),
      gate_(std::move(gate)),
      door_(std::move(door), waker_, options.payload_bytes_max),
      up_(options.rate_up),
      down_(options.rate_down) {}

ZmqEndpoint::Impl::~Impl() { close(Duration{0}); }

void ZmqEndpoint::Impl::pump() {
  waker_->clear();
  for (const std::string& address : gate_.serve()) {
    dropped({}, "unknown-key", "a peer at " + address + " was refused: its key is not known here");
  }
  const TimePoint at = now();
  door_.read_events(door_told());
  for (auto& [id, remote] : remotes_) {
    on_dialler(remote, remote.dialler.read_events(at, tools()), at);
  }
  if (receive_all()) {
    end_links(at);
  }
  run_diallers(at);
  watch_unread(at);
  feed_again_ = kNever;
  for (auto& [id, remote] : remotes_) {
    feed_control(remote);
  }
  feed_bulk(at);
  grant(at);
}

bool ZmqEndpoint::Impl::receive_all() {
  bool drained = true;
  Incoming incoming;
  const auto told = door_told();
  int left = kMessagesInTurn;
  Connection* connection = nullptr;
  while (left-- > 0 && (connection = door_.receive(incoming, told)) != nullptr) {
    on_message(*connection, incoming);
  }
  drained = drained && left >= 0;
  for (auto& [id, remote] : remotes_) {
    DialledLink* link = remote.dialler.link();
    for (const Class cls : {Class::kControl, Class::kBulk}) {
      if (link == nullptr || !link->own[index_of(cls)]) {
        continue;
      }
      Connection& own = *link->own[index_of(cls)];
      left = kMessagesInTurn;
      while (left-- > 0 && receive_frames(*own.socket, false, incoming)) {
        own.bytes_read += incoming.bytes;
        on_message(own, incoming);
      }
      drained = drained && left >= 0;
    }
  }
  return drained;
}

void ZmqEndpoint::Impl::dropped(const PeerId& from, std::string reason, std::string sentence) {
  events_.emplace_back(Dropped{from, std::move(reason), std::move(sentence)});
}

TimePoint ZmqEndpoint::Impl::next_timer() const {
  TimePoint next = std::min({feed_again_, end_again_, watch_again_});
  for (const auto& [id, remote] : remotes_) {
    next = std::min(next, remote.dialler.due());
  }
  return next;
}

void ZmqEndpoint::Impl::poll(TimePoint until) {
  std::vector<Socket*> sockets = {&gate_.socket(), &door_.plug().socket(), &door_.plug().monitor()};
  for (auto& [id, remote] : remotes_) {
    if (DialledLink* link = remote.dialler.link(); link != nullptr) {
      for (auto& plug : link->plugs) {
        if (plug) {
          sockets.push_back(&plug->socket());
          sockets.push_back(&plug->monitor());
        }
      }
    }
  }
  std::vector<pollfd> wanted = {{waker_->fd(), POLLIN, 0}};
  bool due = false;
  for (const Socket* socket : sockets) {
    wanted.push_back({socket->fd(), POLLIN, 0});
    due = due || socket->due();
  }
  ::poll(wanted.data(), wanted.size(), due ? 0 : poll_ms(until - now()));
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (wanted[i + 1].revents != 0) {
      sockets[i]->set_due(true);
    }
  }
}

std::vector<Event> ZmqEndpoint::Impl::take_events() {
  if (events_.empty() && open_) {
    poll(TimePoint{});
    pump();
  }
  return std::exchange(events_, {});
}

void ZmqEndpoint::Impl::wait(TimePoint deadline) {
  while (open_ && events_.empty() && !woken_.exchange(false)) {
    poll(std::min(deadline, next_timer()));
    pump();
    if (now() >= deadline) {
      return;
    }
  }
}

void ZmqEndpoint::Impl::wake() {
  woken_ = true;
  waker_->wake();
}

}  // namespace shoal::comm
