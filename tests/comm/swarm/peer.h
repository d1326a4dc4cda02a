#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/comm/swarm/swarm.h"

namespace shoal::comm::tests {

/// One process of the swarm: session, exchange and a worker that applies means to its state.
class Swarm::Peer final : public GroupHost {
 public:
  Peer(Swarm& swarm, std::size_t index, std::uint64_t session);
  ~Peer() override;

  void start(const View& view);
  void enter();

  ControlInput control(std::uint64_t round) override;
  std::uint64_t applied_round() const override { return applied_; }
  std::optional<Bytes> snapshot() override;
  Status restore(const Bytes& snapshot, std::uint64_t round) override;
  std::optional<Hash256> state_hash() override;
  void committed(const RoundRecord& record) override;

  Swarm& swarm_;
  std::size_t index_;
  Loop loop_;
  Session session_;
  GroupMean group_;
  std::vector<float> state_;
  std::uint64_t applied_ = 0;
  std::vector<double> total_;    ///< mean times divisor over all rounds applied, if whole numbers
  std::vector<double> weights_;  ///< divisors over all rounds applied, by granule
  std::string result_;           ///< empty while it runs, "done", or the error
  bool judged_ = true;           ///< its carry is followed (until a repair voids a contribution)

 private:
  Task<void> work(bool joiner);
  Task<void> rounds();
  Task<Result<Mean>> next_mean(const std::vector<float>& x);
  void apply(const Mean& mean);
  void expect(const std::vector<float>& x);
  void settle_expected(const RoundRecord& record);
  void compare_carry(std::uint64_t round);

  std::vector<float> expected_carry_;
  std::vector<float> expected_velocity_;  ///< moves of a codec with momentum only
  struct Sum {
    std::uint64_t round = 0;
    bool flush = false;
    std::vector<float> s;
    Bytes codec_state;  ///< that it is encoded with
  };
  std::vector<double> expected_pending_;  ///< by granule
  std::optional<Sum> sum_;                ///< what we contributed to the open round
  bool ending_ = false;                   ///< a round said that the run ends
  std::uint64_t dropped_ = 0;             ///< refused contributions so far
};

}  // namespace shoal::comm::tests
