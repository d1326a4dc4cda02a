#pragma once

#include <cstddef>

#include "ops/kernels/recurrent.h"

/// Cells of recurrent layers on the widest vectors at hand, equal to the bodies to the bit.
namespace shoal::ops::cpu {

/// `count` cells: sequences times hidden units.
void run_cells(std::size_t count, const kernels::LstmCell<float>& cell);
void run_cells(std::size_t count, const kernels::LstmCellBackward<float>& cell);
void run_cells(std::size_t count, const kernels::GruCell<float>& cell);
void run_cells(std::size_t count, const kernels::GruCellBackward<float>& cell);

}  // namespace shoal::ops::cpu
