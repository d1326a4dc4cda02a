#pragma once

namespace shoal::bench {

/// Bits a kept value that Rice codes of gaps take, over the entropy of the gaps, which are drawn
/// geometrically for this density within a granule.
double rice_over_entropy(double density);

}  // namespace shoal::bench
