#pragma once

#include "ops/reference/host_update.h"

namespace shoal::ops {

/// UpdateOps on the widest vectors at hand, equal to the kernel bodies to the bit. Sums of squares
/// stay with the bodies, whose eight running sums the compiler makes vectors of.
class CpuUpdateOps : public virtual HostUpdateOps<float> {
 public:
  void update(const UpdateStep& step) override;
};

}  // namespace shoal::ops
