#include "comm/zmq/dialler.h"

#include <algorithm>

#include "comm/limits.h"

namespace shoal::comm {

void Dialler::set_addresses(const std::vector<std::string>& addresses, TimePoint now) {
  targets_.clear();
  bad_addresses_.clear();
  for (const std::string& text : addresses) {
    const auto address = parse_address(text);
    if (!address.ok() || targets_.size() >= 2 * limits::kAddressesMax) {
      bad_addresses_.push_back(text);
    } else if (address->numeric()) {
      targets_.push_back({*address, address->is_v6()});
    } else {
      targets_.push_back({*address, true});
      targets_.push_back({*address, false});
    }
  }
  next_ = 0;
  wait_ = Duration{0};
  said_.clear();
  when_ = addresses.empty() ? kNever : now + (yields_ ? limits::kDialYield : Duration{0});
}

TimePoint Dialler::due() const { return link_ ? give_up_ : when_; }

Dialler::Seen Dialler::run(TimePoint now, bool connected, const Tools& tools) {
  if (due() > now) {
    return {};
  }
  if (link_) {
    return fail(now, "does not answer at");
  }
  if (connected) {
    when_ = now + limits::kDialMax;
    return {};
  }
  if (targets_.empty()) {
    when_ = kNever;
    return {false, "\"" + bad_addresses_.front() + "\" is no address", bad_addresses_.front(),
            true};
  }
  const Target& target = targets_[next_ % targets_.size()];
  link_ = std::make_unique<DialledLink>(peer_, random_u64());
  give_up_ = now + limits::kHandshake;
  if (!encrypted_ && !target.address.loopback()) {
    return fail(now, "is not dialled without encryption, which is for loopback only:");
  }
  if (const Status opened = open(Class::kControl, tools); !opened.ok()) {
    return fail(now, "could not be dialled (" + opened.error().message + ") at");
  }
  return {};
}

Status Dialler::open(Class cls, const Tools& tools) {
  const Target& target = targets_[next_ % targets_.size()];
  SHOAL_ASSIGN(auto plug, tools.sockets.dial(peer_, key_, target.endpoint(), target.ipv6));
  auto& slot = link_->plugs[index_of(cls)].emplace(std::move(plug));
  auto& own =
      link_->own[index_of(cls)].emplace(&slot.socket(), -1, tools.waker, tools.payload_bytes_max);
  own.cls = cls;
  own.link = link_.get();
  send_frames(slot.socket(), {}, Greeting{link_->id, cls, tools.rate_down}.encode(), {},
              own.outstanding);
  return {};
}

Dialler::Seen Dialler::read_events(TimePoint now, const Tools& tools) {
  Seen all;
  for (const Class cls : {Class::kControl, Class::kBulk}) {
    while (link_ && link_->plugs[index_of(cls)] && !all.failed) {
      const auto event = link_->plugs[index_of(cls)]->next_event();
      if (!event) {
        break;
      }
      Seen seen = on_event(cls, *event, now, tools);
      seen.up = seen.up || all.up;
      all = std::move(seen);
    }
  }
  return all;
}

Dialler::Seen Dialler::on_event(Class cls, const SocketEvent& event, TimePoint now,
                                const Tools& tools) {
  Connection& connection = *link_->own[index_of(cls)];
  switch (event.kind) {
    case ZMQ_EVENT_CONNECTED:
      connection.fd = event.value;
      connection.tcp = TcpProbe::attach(event.value);
      link_->pace = Pace(connection.tcp.loopback());
      return {};
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      link_->connections[index_of(cls)] = &connection;
      if (cls == Class::kBulk) {
        give_up_ = kNever;
        wait_ = Duration{0};
        said_.clear();
        return {};
      }
      if (const Status opened = open(Class::kBulk, tools); !opened.ok()) {
        return fail(now, "could not be dialled (" + opened.error().message + ") at");
      }
      link_->up = true;
      return {true, std::nullopt, {}, false};
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return fail(now, "refuses our key (it does not know us; ask it for an invitation) at");
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      return fail(now, "is not who answers (another key, or another program) at");
    case ZMQ_EVENT_CONNECT_RETRIED:
      connection.handed_over = connection.ended;
      connection.socket->set_due(true);
      return connection.fd < 0
                 ? fail(now, "does not answer (nobody listens, or the way is blocked) at")
                 : Seen{};
    case ZMQ_EVENT_DISCONNECTED:
      connection.ended = true;
      connection.socket->set_due(true);  // what the peer sent before comes first
      return link_->over(cls) != nullptr
                 ? Seen{}
                 : fail(now, "closed the connection during the handshake at");
    default:
      return {};
  }
}

Dialler::Seen Dialler::fail(TimePoint now, const std::string& sentence) {
  Seen seen;
  seen.failed = true;
  seen.address = targets_[next_ % targets_.size()].address.text();
  std::string words = "peer " + peer_.short_id() + ' ' + sentence + ' ' + seen.address;
  if (said_.insert(words).second) {
    seen.failure = std::move(words);
  }
  ++next_;
  if (next_ % targets_.size() == 0) {
    wait_ = std::clamp(2 * wait_, limits::kDialMin, limits::kDialMax);
  }
  when_ = now + std::max(wait_, limits::kDialMin);
  return seen;
}

void Dialler::close() {
  if (!link_) {
    return;
  }
  for (auto& plug : link_->plugs) {
    if (plug) {
      plug->close();
    }
  }
}

void Dialler::drop(TimePoint now) {
  if (!link_) {
    return;
  }
  if (link_->up) {
    when_ = std::max(when_, now + limits::kDialMin);
  }
  link_.reset();
}

}  // namespace shoal::comm
