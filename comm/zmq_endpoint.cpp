#include "comm/zmq_endpoint.h"

#include <charconv>
#include <utility>

#include "comm/zmq/world.h"

namespace shoal::comm {
namespace {

std::uint16_t bound_port(Socket& socket) {
  const std::string endpoint = socket.zmq().get(zmq::sockopt::last_endpoint);
  std::uint16_t port = 0;
  const char* digits = endpoint.data() + endpoint.rfind(':') + 1;
  std::from_chars(digits, endpoint.data() + endpoint.size(), port);
  return port;
}

Result<Plug> listen(Sockets& sockets, const ZmqEndpoint::Options& options) {
  auto plug = sockets.listen(options.listen, options.port);
  if (!plug.ok() && options.listen == "::" && port_holder(options.port).empty()) {
    return sockets.listen("0.0.0.0", options.port);  // a system without IPv6
  }
  return plug;
}

}  // namespace

Result<std::unique_ptr<ZmqEndpoint>> ZmqEndpoint::open(Options options) {
  const Address where{options.listen, options.port};
  if (!where.numeric()) {
    return config_error("cannot listen at \"" + options.listen +
                        "\": give a numeric address of this machine, or :: for all");
  }
  if (options.insecure_loopback && !where.loopback()) {
    return config_error("--insecure-loopback switches encryption off and is for loopback only; " +
                        options.listen + " is not (use 127.0.0.1, or leave it out)");
  }
  SHOAL_ASSIGN(auto sockets, Sockets::make(options.identity, !options.insecure_loopback));
  // Before the door: libzmq lets everybody in while nobody answers for the gate.
  SHOAL_ASSIGN(auto gate, Gate::make(*sockets));
  SHOAL_ASSIGN(auto door, listen(*sockets, options));
  const std::uint16_t port = bound_port(door.socket());
  if (options.announce.empty()) {
    options.announce =
        where.loopback() ? std::vector{Address{where.host, port}.text()} : local_addresses(port);
  }
  return std::unique_ptr<ZmqEndpoint>(new ZmqEndpoint(std::make_unique<Impl>(
      std::move(options), std::move(sockets), std::move(gate), std::move(door), port)));
}

ZmqEndpoint::ZmqEndpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZmqEndpoint::~ZmqEndpoint() = default;

std::uint16_t ZmqEndpoint::port() const { return impl_->port; }
const std::vector<std::string>& ZmqEndpoint::announced() const { return impl_->options.announce; }
PeerId ZmqEndpoint::self() const { return impl_->options.identity.id(); }
TimePoint ZmqEndpoint::now() const { return impl_->now(); }
void ZmqEndpoint::allow(const PeerId& peer, const std::vector<std::string>& addresses) {
  impl_->allow(peer, addresses);
}
void ZmqEndpoint::forget(const PeerId& peer) { impl_->forget(peer); }
SendResult ZmqEndpoint::send(const PeerId& to, Class cls, Message message) {
  return impl_->send(to, cls, std::move(message));
}
bool ZmqEndpoint::room(const PeerId& to, std::uint64_t bytes) const {
  return impl_->room(to, bytes);
}
std::vector<Event> ZmqEndpoint::take_events() { return impl_->take_events(); }
void ZmqEndpoint::wait(TimePoint deadline) { impl_->wait(deadline); }
void ZmqEndpoint::wake() { impl_->wake(); }
LinkStats ZmqEndpoint::stats(const PeerId& peer) const { return impl_->stats(peer); }
LinkStats ZmqEndpoint::totals() const { return impl_->totals(); }
void ZmqEndpoint::close(Duration linger) { impl_->close(linger); }

}  // namespace shoal::comm
