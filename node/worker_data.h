#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/view.h"
#include "node/data/ledger.h"
#include "node/data/private_order.h"
#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Which samples a member works on. How many, and when an epoch ends, is the ledger's word in both
/// modes: in private mode its positions merely count.
class WorkerData {
 public:
  virtual ~WorkerData() = default;
  /// The samples behind these leased ranges.
  virtual std::vector<std::uint32_t> samples(const std::vector<DataRange>& ranges) = 0;
  /// The same before they are asked for: nothing moves on.
  [[nodiscard]] virtual std::vector<std::uint32_t> peek(
      const std::vector<DataRange>& ranges) const = 0;
  /// What a checkpoint of this peer alone holds. Errors: kData.
  virtual void save(ByteWriter& out) const = 0;
  [[nodiscard]] virtual Status load(ByteReader& in) = 0;
};

/// data.mode "shared": one permutation of all samples an epoch, from the run's seed.
std::unique_ptr<WorkerData> shared_data(std::uint64_t seed, std::uint64_t samples);
/// data.mode "private": a peer's own part in its own order.
std::unique_ptr<WorkerData> private_data(PrivateOrder order);

/// The claims of a view's members on a batch, in order.
std::vector<Share> shares_of(const comm::View& view);

}  // namespace shoal::node
