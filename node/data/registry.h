#pragma once

#include "node/data/dataset.h"
#include "node/data/partition.h"

/// What each file of datasets/ and partitions/ offers; the registries list them.
namespace shoal::node {

DatasetEntry fashion_mnist_dataset();
DatasetEntry idx_dataset();
DatasetEntry cifar10_dataset();
DatasetEntry cifar100_dataset();
DatasetEntry csv_dataset();
DatasetEntry npy_dataset();
DatasetEntry text_dataset();
DatasetEntry synthetic_dataset();
DatasetEntry synthetic_alpha_beta_dataset();
DatasetEntry synthetic_regression_dataset();

PartitionEntry iid_partition();
PartitionEntry natural_partition();

}  // namespace shoal::node
