#pragma once

#include <list>
#include <memory>

#include "comm/zmq/dialler.h"

namespace shoal::comm {

/// A peer that may connect: how to reach it, the links to it, and what waits to be sent.
struct Remote {
  Remote(const PeerId& self, const PeerId& peer, const CurveKey& key, bool encrypted)
      : id(peer), dialler(self, peer, key, encrypted) {}

  PeerId id;
  Dialler dialler;
  std::list<Link> accepted;  ///< two at most: the newest, and one that is being replaced
  Link* active = nullptr;    ///< what we send over; stays until it ends, so that order is kept
  SendQueue control;
  SendQueue bulk;
  LinkStats past;  ///< of connections that are over

  [[nodiscard]] SendQueue& queue(Class cls) { return cls == Class::kControl ? control : bulk; }
};

}  // namespace shoal::comm
