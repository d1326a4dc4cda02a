#include "tests/comm/wire/samples.h"

namespace shoal::comm::tests {
namespace {

PeerCard card(std::uint8_t number) {
  return {sample_peer(number), "gateway café", {"192.0.2.7:47700", "[2001:db8::7]:47700"}};
}

Control control() {
  Control c;
  c.parent = sample_hash(30);
  c.next_view = sample_view(3);
  c.scalars = {0.1, -2.5};
  c.checkpoint = true;
  c.stop = true;
  c.excluded = {1, 2};
  c.plan = {{0, {}}, {2, sample_hash(31)}};
  return c;
}

std::vector<Body> sample_bodies() {
  Promise promise;
  promise.held = true;
  promise.held_ballot = {3, sample_peer(4)};
  promise.held_control = control();
  promise.held_answers = {sample_hash(5), sample_hash(6)};
  promise.known = {sample_hash(5), {}};
  StateReply reply{sample_hash(9), 123456, sample_view(2), true, {{0, 1}, {}, {5}}};
  return {Hello{kProtocolVersion,
                "laptop",
                sample_hash(1),
                sample_hash(2),
                {"host.example:1234"},
                1'250'000,
                true,
                77},
          Refuse{RefuseReason::kModel, "the run's model is another one"},
          Heartbeat{1, 2, 3, 4, 0.5F, 1234.5F, 99},
          Bye{"stopped by its owner"},
          Enrol{card(8), std::vector<std::byte>(64, std::byte{0xab})},
          Roster{{card(9), card(10)}, "seed=7\ntrain.batch=64\n"},
          Join{5'000'000, 2.5},
          Contribution{1, {4, 10}, sample_hash(3), 2, false, {{{4, 5}, 64}, {{5, 10}, 96.5}}},
          Answer{1, {4, 10}, 1, {0, 2}, {{{4, 10}, 128}}, {}},
          control(),
          Hold{sample_hash(11), sample_hash(12)},
          Prepare{},
          std::move(promise),
          Refused{2, 1, "an absurd norm"},
          Stale{sample_hash(7), 4096, sample_view(2)},
          Fetch{{sample_hash(13), sample_hash(14)}},
          StateRequest{12},
          std::move(reply)};
}

}  // namespace

PeerId sample_peer(std::uint8_t number) {
  PeerId id;
  id.key.fill(std::byte{number});
  return id;
}

Hash256 sample_hash(std::uint8_t number) {
  Hash256 hash;
  hash.bytes.fill(std::byte{number});
  return hash;
}

Bytes sample_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + 1);
  }
  return Bytes(std::move(bytes));
}

View sample_view(std::size_t count) {
  View view;
  view.number = 6;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint8_t>(i + 1);
    view.members.push_back(
        {{sample_peer(number), 1000 + i}, 100 * i, 1.0 + static_cast<double>(i)});
  }
  for (std::size_t i = 0; i <= count; ++i) {
    view.bounds.push_back(3 * i);
  }
  return view;
}

std::vector<Message> sample_messages() {
  std::vector<Message> messages;
  for (Body& body : sample_bodies()) {
    Message m;
    m.header = {0x1122334455667788, 0x99, 6, {2, sample_peer(4)}, 41, 0xfedcba9876543210, 17};
    const bool bulk = std::holds_alternative<Contribution>(body) ||
                      std::holds_alternative<Answer>(body) ||
                      std::holds_alternative<StateReply>(body);
    m.body = std::move(body);
    m.payload = bulk ? sample_bytes(20) : Bytes{};
    messages.push_back(std::move(m));
  }
  return messages;
}

}  // namespace shoal::comm::tests
