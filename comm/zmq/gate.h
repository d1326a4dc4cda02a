#pragma once

#include <map>
#include <string>
#include <vector>

#include "comm/zmq/socket.h"

namespace shoal::comm {

/// The allow-list behind every handshake (ZeroMQ's ZAP): a key that is not on it is refused before
/// a byte of its owner is read. It answers on the loop's own thread, between polls.
class Gate {
 public:
  /// Errors: kInternal.
  static Result<Gate> make(Sockets& sockets);

  void allow(const PeerId& peer, const CurveKey& key);
  void refuse(const PeerId& peer);

  /// Answers all that wait; returns the addresses of those that were refused.
  std::vector<std::string> serve();
  [[nodiscard]] Socket& socket() { return socket_; }

 private:
  Gate(Socket socket, bool encrypted) : socket_(std::move(socket)), encrypted_(encrypted) {}
  [[nodiscard]] std::string user_of(const std::vector<std::string>& request) const;

  Socket socket_;
  bool encrypted_;
  std::map<CurveKey, PeerId> allowed_;  ///< without encryption by the id's own bytes
};

}  // namespace shoal::comm
