#include "node/worker_data.h"

#include <utility>

#include "node/data/permutation.h"

namespace shoal::node {
namespace {

std::uint64_t count_of(const std::vector<DataRange>& ranges) {
  std::uint64_t count = 0;
  for (const DataRange& r : ranges) {
    count += r.range.size();
  }
  return count;
}

class SharedData final : public WorkerData {
 public:
  SharedData(std::uint64_t seed, std::uint64_t samples) : seed_(seed), samples_(samples) {}

  std::vector<std::uint32_t> samples(const std::vector<DataRange>& ranges) override {
    return peek(ranges);
  }
  std::vector<std::uint32_t> peek(const std::vector<DataRange>& ranges) const override {
    std::vector<std::uint32_t> out;
    for (const DataRange& r : ranges) {
      const Permutation order(seed_, r.epoch, samples_);
      for (std::uint64_t position = r.range.begin; position < r.range.end; ++position) {
        out.push_back(static_cast<std::uint32_t>(order.at(position)));
      }
    }
    return out;
  }
  void save(ByteWriter& /*out*/) const override {}
  Status load(ByteReader& /*in*/) override { return {}; }

 private:
  std::uint64_t seed_;
  std::uint64_t samples_;
};

class PrivateData final : public WorkerData {
 public:
  explicit PrivateData(PrivateOrder order) : order_(std::move(order)) {}

  std::vector<std::uint32_t> samples(const std::vector<DataRange>& ranges) override {
    return order_.next(count_of(ranges));
  }
  std::vector<std::uint32_t> peek(const std::vector<DataRange>& ranges) const override {
    return order_.peek(count_of(ranges));
  }
  void save(ByteWriter& out) const override { order_.save(out); }
  Status load(ByteReader& in) override { return order_.load(in); }

 private:
  PrivateOrder order_;
};

}  // namespace

std::unique_ptr<WorkerData> shared_data(std::uint64_t seed, std::uint64_t samples) {
  return std::make_unique<SharedData>(seed, samples);
}

std::unique_ptr<WorkerData> private_data(PrivateOrder order) {
  return std::make_unique<PrivateData>(std::move(order));
}

std::vector<Share> shares_of(const comm::View& view) {
  std::vector<Share> shares;
  shares.reserve(view.size());
  for (const comm::Member& member : view.members) {
    shares.push_back({member.id, share_weight(member.speed)});
  }
  return shares;
}

}  // namespace shoal::node
