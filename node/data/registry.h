#pragma once

#include "node/data/dataset.h"
#include "node/data/partition.h"

/// What each file of datasets/ and partitions/ offers; the registries list them.
namespace shoal::node {

DatasetEntry fashion_mnist_dataset();
DatasetEntry synthetic_dataset();

PartitionEntry iid_partition();

}  // namespace shoal::node
