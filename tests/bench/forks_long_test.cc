// SPDX-License-Identifier: MIT
// The same at the sizes of the papers.
#include "tests/bench/forks.h"

namespace bench {

INSTANTIATE_TEST_SUITE_P(paper, forks, testing::Values(size::paper));

} // namespace bench
