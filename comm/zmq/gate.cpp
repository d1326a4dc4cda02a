#include "comm/zmq/gate.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal::comm {
namespace {

// Frames of a request by RFC 27: version, id, domain, address, identity, mechanism, credentials.
enum Field : std::size_t { kVersion, kId, kDomain, kAddress, kRoutingId, kMechanism, kCredential };

bool next_request(zmq::socket_t& socket, std::vector<std::string>& request) {
  request.clear();
  zmq::message_t frame;
  if (!socket.recv(frame, zmq::recv_flags::dontwait)) {
    return false;
  }
  request.push_back(frame.to_string());
  while (frame.more()) {
    static_cast<void>(socket.recv(frame, zmq::recv_flags::dontwait));
    request.push_back(frame.to_string());
  }
  return true;
}

}  // namespace

Result<Gate> Gate::make(Sockets& sockets) {
  try {
    zmq::socket_t socket(sockets.context(), zmq::socket_type::rep);
    socket.set(zmq::sockopt::linger, 0);
    socket.bind("inproc://zeromq.zap.01");
    return Gate(Socket(std::move(socket)), sockets.encrypted());
  } catch (const zmq::error_t& error) {
    return internal_error(std::string("ZeroMQ's authenticator does not start: ") + error.what());
  }
}

void Gate::allow(const PeerId& peer, const CurveKey& key) {
  allowed_.insert_or_assign(encrypted_ ? key : peer.key, peer);
}

void Gate::refuse(const PeerId& peer) {
  std::erase_if(allowed_, [&](const auto& entry) { return entry.second == peer; });
}

std::string Gate::user_of(const std::vector<std::string>& request) const {
  if (request.size() <= kCredential || request[kMechanism] != (encrypted_ ? "CURVE" : "PLAIN")) {
    return {};
  }
  const std::string& credential = request[kCredential];
  CurveKey key{};
  if (!encrypted_) {
    if (!from_hex(credential, key)) {
      return {};
    }
  } else if (credential.size() != key.size()) {
    return {};
  } else {
    std::memcpy(key.data(), credential.data(), key.size());
  }
  const auto found = allowed_.find(key);
  return found == allowed_.end() ? std::string() : found->second.hex();
}

std::vector<std::string> Gate::serve() {
  std::vector<std::string> refused;
  if (!socket_.due()) {
    return refused;
  }
  zmq::socket_t& socket = socket_.zmq();
  try {
    std::vector<std::string> request;
    while (next_request(socket, request)) {
      request.resize(std::max<std::size_t>(request.size(), kAddress + 1));
      const std::string user = user_of(request);
      if (user.empty()) {
        refused.push_back(request[kAddress]);
      }
      const std::array<std::string, 6> reply = {"1.0",
                                                request[kId],
                                                user.empty() ? "400" : "200",
                                                user.empty() ? "unknown key" : "OK",
                                                user,
                                                ""};
      for (std::size_t i = 0; i < reply.size(); ++i) {
        socket.send(zmq::const_buffer(reply[i].data(), reply[i].size()),
                    i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
      }
    }
    socket_.set_due(false);
  } catch (const zmq::error_t&) {
    // The asking connection went away; the next request starts afresh.
  }
  return refused;
}

}  // namespace shoal::comm
