#include "comm/zmq/world.h"

#include <algorithm>
#include <utility>

#include "comm/limits.h"

namespace shoal::comm {
namespace {

// Messages taken from one socket in a turn, so that a flood delays nothing else.
constexpr int kMessagesInTurn = 256;

long poll_ms(Duration d) {
  if (d <= Duration{0}) {
    return 0;
  }
  const Duration bounded = std::min<Duration>(d, std::chrono::hours(1));
  return std::chrono::ceil<std::chrono::milliseconds>(bounded).count();
}

}  // namespace

ZmqEndpoint::Impl::Impl(Options given, std::unique_ptr<Sockets> sockets, Gate gate, Plug door,
                        std::uint16_t bound)
    : options(std::move(given)),
      port(bound),
      waker_(std::make_shared<const Waker>()),
      sockets_(std::move(sockets)),
      gate_(std::move(gate)),
      door_(std::move(door), waker_, options.payload_bytes_max) {}

ZmqEndpoint::Impl::~Impl() { close(Duration{0}); }

bool ZmqEndpoint::Impl::pump() {
  if (!open_) {
    return true;
  }
  waker_->clear();
  for (const std::string& address : gate_.serve()) {
    dropped({}, "unknown-key", "a peer at " + address + " was refused: its key is not known here");
  }
  const TimePoint at = now();
  door_.read_events(door_told());
  for (auto& [id, remote] : remotes_) {
    on_dialler(remote, remote.dialler.read_events(at, tools()), at);
  }
  const bool drained = receive_all();
  if (drained) {
    end_links(at);
  }
  run_diallers(at);
  watch_unread(at);
  feed_again_ = kNever;
  for (auto& [id, remote] : remotes_) {
    feed_control(remote);
    feed_bulk(remote, at);
  }
  return drained;
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
      if (link == nullptr || link->over(cls) == nullptr) {
        continue;
      }
      Connection& own = *link->over(cls);
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
  TimePoint next = std::min(feed_again_, watch_again_);
  for (const auto& [id, remote] : remotes_) {
    next = std::min(next, remote.dialler.due());
  }
  return next;
}

void ZmqEndpoint::Impl::poll(TimePoint until) {
  std::vector<zmq::pollitem_t> items;
  const auto add = [&](zmq::socket_t& socket) {
    items.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
  };
  items.push_back({nullptr, waker_->fd(), ZMQ_POLLIN, 0});
  add(gate_.socket());
  add(door_.plug().socket());
  add(door_.plug().monitor());
  for (auto& [id, remote] : remotes_) {
    if (DialledLink* link = remote.dialler.link(); link != nullptr) {
      for (auto& plug : link->plugs) {
        if (plug) {
          add(plug->socket());
          add(plug->monitor());
        }
      }
    }
  }
  const long timeout = poll_ms(until - now());
  zmq_poll(items.data(), static_cast<int>(items.size()), timeout);
}

std::vector<Event> ZmqEndpoint::Impl::take_events() {
  if (events_.empty()) {
    pump();
  }
  return std::exchange(events_, {});
}

void ZmqEndpoint::Impl::wait(TimePoint deadline) {
  for (;;) {
    const bool drained = pump();
    if (!events_.empty() || woken_.exchange(false) || !open_ || now() >= deadline) {
      return;
    }
    if (drained) {
      poll(std::min(deadline, next_timer()));
    }
  }
}

void ZmqEndpoint::Impl::wake() {
  woken_ = true;
  waker_->wake();
}

void ZmqEndpoint::Impl::close(Duration linger) {
  if (!open_) {
    return;
  }
  const TimePoint deadline = now() + linger;
  const auto busy = [&] {
    return std::any_of(remotes_.begin(), remotes_.end(), [](auto& entry) {
      const Remote& remote = entry.second;
      return remote.active != nullptr && !(remote.control.empty() && remote.bulk.empty());
    });
  };
  for (pump(); busy() && now() < deadline; pump()) {
    poll(std::min(deadline, next_timer()));
  }
  open_ = false;
  const Duration left = std::max(deadline - now(), Duration{0});
  // The gate closes last: where nobody answers for it, libzmq lets strangers in.
  door_.close(left);
  for (auto& [id, remote] : remotes_) {
    remote.dialler.close(left);
  }
  gate_.socket().close();
  sockets_->context().close();
  for (Connection& connection : door_.connections()) {
    count(connection.link == nullptr ? nullptr : find(connection.link->peer), connection);
  }
  for (auto& [id, remote] : remotes_) {
    drop_dialled(remote, now());
    remote.accepted.clear();
    remote.active = nullptr;
    remote.control.clear();
    remote.bulk.clear();
  }
  door_.connections().clear();
}

}  // namespace shoal::comm
