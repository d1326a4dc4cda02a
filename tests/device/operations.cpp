#include "tests/device/operations.h"

#include <algorithm>
#include <iterator>

namespace shoal::ops::tests {

std::vector<Operation> device_operations() {
  std::vector<Operation> all;
  for (auto family :
       {memory_operations(), conv_operations(), linear_operations(), loss_operations(),
        norm_operations(), pointwise_operations(), sequence_operations(), update_operations()}) {
    std::move(family.begin(), family.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace shoal::ops::tests
