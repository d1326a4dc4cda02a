#include "comm/zmq/socket.h"

#include <link.h>
#include <malloc.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "comm/address.h"
#include "comm/limits.h"
#include "ops/base/check.h"

namespace shoal::comm {
namespace {

// Frames up to this size are copied: cheaper than a counter shared with libzmq's thread.
constexpr std::size_t kCopyBytesMax = 4096;
constexpr int kSocketsMax = 4 * static_cast<int>(limits::kPeersMax) * 3;

int in_ms(Duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

zmq::const_buffer buffer_of(const CurveKey& key) { return {key.data(), key.size()}; }

/// What keeps a frame's bytes alive while libzmq reads them.
struct Held {
  Bytes bytes;
  std::shared_ptr<Outstanding> outstanding;
};

void let_go(void*, void* hint) {
  const std::unique_ptr<Held> held(static_cast<Held*>(hint));
  held->outstanding->release(held->bytes.size());
}

zmq::message_t message_of(const Bytes& bytes, const std::shared_ptr<Outstanding>& outstanding,
                          std::size_t copy_bytes_max) {
  if (bytes.size() <= copy_bytes_max) {
    return {bytes.data(), bytes.size()};
  }
  auto held = std::make_unique<Held>(Held{bytes, outstanding});
  // libzmq's interface has no const; it only reads what it sends.
  zmq::message_t message(const_cast<std::byte*>(bytes.data()), bytes.size(), let_go, held.get());
  outstanding->add(bytes.size());
  static_cast<void>(held.release());
  return message;
}

Sent send_some(Socket& to, const std::string& route, const Bytes& header, const Bytes& chunk,
               const std::shared_ptr<Outstanding>& outstanding, std::size_t copy_bytes_max) {
  zmq::socket_t& socket = to.zmq();
  to.set_due(true);  // sending takes in what the descriptor would have told
  const auto flags = [](bool more) {
    return more ? zmq::send_flags::dontwait | zmq::send_flags::sndmore : zmq::send_flags::dontwait;
  };
  try {
    if (!route.empty() &&
        !socket.send(zmq::const_buffer(route.data(), route.size()), flags(true))) {
      return Sent::kFull;
    }
    if (!socket.send(message_of(header, outstanding, copy_bytes_max), flags(!chunk.empty()))) {
      return Sent::kFull;
    }
    if (!chunk.empty() &&
        !socket.send(message_of(chunk, outstanding, copy_bytes_max), flags(false))) {
      return Sent::kGone;  // after its first frame a message is only refused with its connection
    }
    return Sent::kOk;
  } catch (const zmq::error_t&) {
    return Sent::kGone;  // EHOSTUNREACH: the ROUTER's connection went away
  }
}

std::string property(zmq::message_t& message, const char* name) {
  const char* value = zmq_msg_gets(message.handle(), name);
  return value == nullptr ? "" : value;
}

/// Frames are allocated by libzmq's thread and freed by ours. By default glibc gives such blocks
/// back to the system each time and takes them, page by page, again: a third of all time on
/// loopback.
void keep_frames_mapped() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 4 * static_cast<int>(limits::kChunkBytesMax));
  ::mallopt(M_TRIM_THRESHOLD, 32 * static_cast<int>(limits::kChunkBytesMax));
#endif
}

Bytes bytes_of(zmq::message_t&& message) {
  const auto kept = std::make_shared<zmq::message_t>(std::move(message));
  return {kept, {static_cast<const std::byte*>(kept->data()), kept->size()}};
}

}  // namespace

Waker::Waker() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  SHOAL_CHECK(fd_.valid(), "the system gives an eventfd");
}

void Waker::wake() const {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the poll ends anyway.
  [[maybe_unused]] const auto wrote = ::write(fd_.get(), &one, sizeof one);
}

void Waker::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
}

void Outstanding::release(std::uint64_t count) {
  bytes_ -= count;
  if (asked_.exchange(false)) {
    waker_->wake();
  }
}

Sent send_frames(Socket& to, const std::string& route, const Bytes& header, const Bytes& chunk,
                 const std::shared_ptr<Outstanding>& outstanding) {
  return send_some(to, route, header, chunk, outstanding, kCopyBytesMax);
}

Sent send_mark(Socket& socket, const std::string& route, const Bytes& frame,
               const std::shared_ptr<Outstanding>& outstanding) {
  return send_some(socket, route, frame, {}, outstanding, 0);
}

bool receive_frames(Socket& from, bool router, Incoming& incoming) {
  if (!from.due()) {
    return false;
  }
  zmq::socket_t& socket = from.zmq();
  incoming = Incoming();
  try {
    zmq::message_t frame;
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) {
      from.set_due(false);
      return false;
    }
    if (router) {
      incoming.route = frame.to_string();
      SHOAL_CHECK(frame.more(), "a ROUTER puts a route before the sender's frames");
      static_cast<void>(socket.recv(frame, zmq::recv_flags::dontwait));
    }
    incoming.user = property(frame, "User-Id");
    incoming.fd = zmq_msg_get(frame.handle(), ZMQ_SRCFD);
    for (;;) {
      const bool more = frame.more();
      incoming.bytes += frame.size();
      ++incoming.parts;
      if (incoming.parts <= 2) {
        (incoming.parts == 1 ? incoming.header : incoming.chunk) = bytes_of(std::move(frame));
      }
      if (!more) {
        return true;
      }
      static_cast<void>(socket.recv(frame, zmq::recv_flags::dontwait));
    }
  } catch (const zmq::error_t&) {
    return false;
  }
}

std::optional<SocketEvent> Plug::next_event() {
  Incoming incoming;
  std::uint16_t kind = 0;
  std::int32_t value = 0;
  if (!receive_frames(monitor_, false, incoming)) {
    return std::nullopt;
  }
  ByteReader reader(incoming.header.span());
  SHOAL_CHECK(reader.get(kind) && reader.get(value), "libzmq describes an event in six bytes");
  return SocketEvent{kind, value};
}

void Plug::close() {
  zmq::socket_t& socket = socket_.zmq();
  if (socket.handle() == nullptr) {
    return;
  }
  zmq_socket_monitor(socket.handle(), nullptr, 0);
  monitor_.zmq().close();
  socket.close();
}

Sockets::Sockets(const Identity& identity, bool encrypted)
    : identity_(identity), encrypted_(encrypted) {
  context_.set(zmq::ctxopt::max_sockets, kSocketsMax);
}

Result<std::unique_ptr<Sockets>> Sockets::make(const Identity& identity, bool encrypted) {
  if (encrypted && zmq_has("curve") != 1) {
    return config_error(
        "this libzmq cannot encrypt (built without CURVE); install a libzmq with libsodium");
  }
  keep_frames_mapped();
  try {
    return std::unique_ptr<Sockets>(new Sockets(identity, encrypted));
  } catch (const zmq::error_t& error) {
    return internal_error(std::string("ZeroMQ does not start: ") + error.what());
  }
}

zmq::socket_t Sockets::make_socket(zmq::socket_type type, bool ipv6) {
  zmq::socket_t socket(context_, type);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::ipv6, ipv6 ? 1 : 0);
  // Twice what we send, so that a frame a little too large is refused in words.
  socket.set(zmq::sockopt::maxmsgsize, std::int64_t{2 * limits::kChunkBytesMax});
  socket.set(zmq::sockopt::rcvhwm, static_cast<int>(limits::kFramesWaitingMax));
  socket.set(zmq::sockopt::sndhwm, static_cast<int>(limits::kControlQueueMax));
  socket.set(zmq::sockopt::heartbeat_ivl, in_ms(limits::kLinkHeartbeat));
  socket.set(zmq::sockopt::heartbeat_timeout, in_ms(limits::kLinkTimeout));
  socket.set(zmq::sockopt::heartbeat_ttl, in_ms(limits::kLinkTimeout));
  socket.set(zmq::sockopt::handshake_ivl, in_ms(limits::kHandshake));
  return socket;
}

Plug Sockets::monitored(zmq::socket_t socket) {
  const std::string name = "inproc://monitor-" + std::to_string(++monitors_);
  if (zmq_socket_monitor(socket.handle(), name.c_str(), ZMQ_EVENT_ALL) != 0) {
    throw zmq::error_t();
  }
  zmq::socket_t monitor(context_, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  monitor.connect(name);
  return {Socket(std::move(socket)), Socket(std::move(monitor))};
}

Result<Plug> Sockets::listen(const std::string& host, std::uint16_t port) {
  const Address address{host, port};
  const std::string where = (address.is_v6() ? '[' + host + ']' : host) + ':' +
                            (port == 0 ? std::string("*") : std::to_string(port));
  try {
    zmq::socket_t socket = make_socket(zmq::socket_type::router, address.is_v6());
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::zap_domain, "shoal");
    if (encrypted_) {
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, buffer_of(identity_.curve_secret()));
    } else {
      socket.set(zmq::sockopt::plain_server, 1);
    }
    Plug plug = monitored(std::move(socket));
    plug.socket().zmq().bind("tcp://" + where);
    return plug;
  } catch (const zmq::error_t& error) {
    if (error.num() == EADDRINUSE) {
      const std::string holder = port_holder(port);
      return network_error("port " + std::to_string(port) + " is already in use" +
                           (holder.empty() ? "" : " by " + holder) +
                           "; end that program, or choose another with --set swarm.port=...");
    }
    return network_error("cannot listen at " + where + ": " + error.what());
  }
}

Result<Plug> Sockets::dial(const PeerId& peer, const CurveKey& key, const std::string& endpoint,
                           bool ipv6) {
  try {
    zmq::socket_t socket = make_socket(zmq::socket_type::dealer, ipv6);
    socket.set(zmq::sockopt::connect_timeout, in_ms(limits::kHandshake));
    // One attempt a socket; who dials decides when and where the next one goes.
    socket.set(zmq::sockopt::reconnect_ivl, in_ms(std::chrono::hours(1)));
    if (encrypted_) {
      socket.set(zmq::sockopt::curve_serverkey, buffer_of(key));
      socket.set(zmq::sockopt::curve_publickey, buffer_of(identity_.curve_public()));
      socket.set(zmq::sockopt::curve_secretkey, buffer_of(identity_.curve_secret()));
    } else {
      socket.set(zmq::sockopt::plain_username, identity_.id().hex());
      socket.set(zmq::sockopt::plain_password, "-");
    }
    Plug plug = monitored(std::move(socket));
    plug.socket().zmq().connect(endpoint);
    return plug;
  } catch (const zmq::error_t& error) {
    return network_error("cannot dial " + endpoint + ": " + error.what(), peer.short_id());
  }
}

bool libzmq_has_sodium() {
  bool found = false;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* out) -> int {
    if (std::string_view(info->dlpi_name).find("libzmq") == std::string_view::npos) {
      return 0;
    }
    const ElfW(Dyn)* dynamic = nullptr;
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
        dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
      }
    }
    const char* strings = nullptr;
    for (auto at = dynamic; at != nullptr && at->d_tag != DT_NULL; ++at) {
      if (at->d_tag == DT_STRTAB) {
        strings = reinterpret_cast<const char*>(at->d_un.d_ptr);  // relocated by the loader
      }
    }
    for (auto at = dynamic; strings != nullptr && at->d_tag != DT_NULL; ++at) {
      if (at->d_tag == DT_NEEDED &&
          std::string_view(strings + at->d_un.d_val).find("sodium") != std::string_view::npos) {
        *static_cast<bool*>(out) = true;
      }
    }
    return 1;
  };
  ::dl_iterate_phdr(visit, &found);
  return found;
}

}  // namespace shoal::comm
