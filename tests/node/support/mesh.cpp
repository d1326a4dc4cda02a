#include "tests/node/support/mesh.h"

#include <algorithm>

namespace shoal::node::tests {
namespace {

class MeshEndpoint final : public comm::Endpoint {
 public:
  MeshEndpoint(comm::PeerId self, const TimePoint& now) : self_(self), now_(now) {}
  comm::PeerId self() const override { return self_; }
  TimePoint now() const override { return now_; }
  bool virtual_time() const override { return true; }
  void allow(const comm::PeerId&, const std::vector<std::string>&) override {}
  void forget(const comm::PeerId&) override {}
  comm::SendResult send(const comm::PeerId&, comm::Class, comm::Message) override {
    return comm::SendResult::kUnreachable;
  }
  bool room(const comm::PeerId&, std::uint64_t) const override { return true; }
  std::vector<comm::Event> take_events() override { return {}; }
  void wait(TimePoint) override {}
  void wake() override {}
  comm::LinkStats stats(const comm::PeerId&) const override { return {}; }
  comm::LinkStats totals() const override { return {}; }
  void close(Duration) override {}

 private:
  comm::PeerId self_;
  const TimePoint& now_;
};

comm::PeerId peer_id(std::size_t i) {
  comm::PeerId id;
  id.key[0] = static_cast<std::byte>(i + 1);
  return id;
}

std::size_t index_of(const comm::PeerId& id) { return static_cast<std::size_t>(id.key[0]) - 1; }

class MeshNet final : public comm::Net {
 public:
  using Post = std::function<void(std::size_t to, comm::Message)>;
  MeshNet(std::size_t self, std::size_t peers, Post post)
      : self_(self), peers_(peers), post_(std::move(post)) {}

  comm::PeerId self() const override { return peer_id(self_); }
  comm::SendResult send(const comm::PeerId& to, comm::Class, comm::Message message) override {
    message.header.session = own_session();
    post_(index_of(to), std::move(message));
    return comm::SendResult::kOk;
  }
  bool alive(const comm::PeerId& peer) const override {
    return index_of(peer) < peers_ && !gone.contains(index_of(peer));
  }
  std::uint64_t session_of(const comm::PeerId& peer) const override {
    return alive(peer) ? index_of(peer) + 100 : 0;
  }
  std::uint64_t own_session() const override { return self_ + 100; }
  void renew_session() override {}
  std::vector<comm::PeerId> alive_peers() const override {
    std::vector<comm::PeerId> out;
    for (std::size_t i = 0; i < peers_; ++i) {
      if (i != self_ && !gone.contains(i)) {
        out.push_back(peer_id(i));
      }
    }
    return out;
  }
  std::uint64_t rate_of(const comm::PeerId&) const override { return 0; }
  void penalise(const comm::PeerId&, const std::string&) override {}
  void count(const std::string&) override {}
  void set_receiver(Receiver* to) override { receiver = to; }

  Receiver* receiver = nullptr;
  std::set<std::size_t> gone;

 private:
  std::size_t self_;
  std::size_t peers_;
  Post post_;
};

}  // namespace

struct Mesh::Node {
  Node(std::size_t i, std::size_t peers, const TimePoint& now, MeshNet::Post post)
      : endpoint(peer_id(i), now), loop(endpoint, nullptr), net(i, peers, std::move(post)) {}
  MeshEndpoint endpoint;
  comm::Loop loop;
  MeshNet net;
};

Mesh::Mesh(std::size_t peers) {
  for (std::size_t i = 0; i < peers; ++i) {
    const auto post = [this, i](std::size_t to, comm::Message message) {
      deliveries_.emplace(now_ + std::chrono::milliseconds(1), Delivery{i, to, std::move(message)});
    };
    nodes_.push_back(std::make_unique<Node>(i, peers, now_, post));
  }
}

Mesh::~Mesh() = default;

comm::Loop& Mesh::loop(std::size_t i) { return nodes_[i]->loop; }
comm::Net& Mesh::net(std::size_t i) { return nodes_[i]->net; }

comm::View Mesh::view(std::uint64_t granules) const {
  comm::View view;
  for (std::size_t i = 0; i < size(); ++i) {
    view.members.push_back({{peer_id(i), i + 100}, 0, 1});
  }
  view.bounds = comm::balance_bounds(view.members, granules);
  return view;
}

void Mesh::kill(std::size_t i) {
  dead_.insert(i);
  for (std::size_t other = 0; other < size(); ++other) {
    nodes_[other]->net.gone.insert(i);
    if (!dead_.contains(other) && nodes_[other]->net.receiver != nullptr) {
      nodes_[other]->net.receiver->on_alive(peer_id(i), false);
    }
  }
}

bool Mesh::run(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = now_ + limit;
  for (;;) {
    TimePoint next = kNever;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!dead_.contains(i)) {
        next = std::min(next, nodes_[i]->loop.run_ready());
      }
    }
    if (done()) {
      return true;
    }
    if (!deliveries_.empty()) {
      next = std::min(next, deliveries_.begin()->first);
    }
    if (next == kNever || next > end) {
      return false;
    }
    now_ = std::max(now_, next);
    while (!deliveries_.empty() && deliveries_.begin()->first <= now_) {
      const Delivery d = std::move(deliveries_.begin()->second);
      deliveries_.erase(deliveries_.begin());
      auto* receiver = nodes_[d.to]->net.receiver;
      if (!dead_.contains(d.from) && !dead_.contains(d.to) && receiver != nullptr) {
        receiver->on_message(peer_id(d.from), d.message);
      }
    }
  }
}

}  // namespace shoal::node::tests
