// SPDX-License-Identifier: MIT
// Reads symmetric sparse matrices from Matrix Market files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct matrix_entry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

// The lower triangle with the diagonal, in no particular order, each place at most once.
struct symmetric_matrix {
  std::int32_t order = 0;
  std::vector<matrix_entry> lower;
};

// A file in coordinate format, of real or integer values, symmetric as its header says or general
// and found to be symmetric. Anything else is a std::invalid_argument, one sentence that names file
// and line.
symmetric_matrix read_matrix_market(const std::string& path);

} // namespace bench
