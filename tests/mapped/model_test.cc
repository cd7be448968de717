// SPDX-License-Identifier: MIT
// Some sequences of model.h; a long test has ten thousand.
#include "model_compare.h"

TEST(mapped_model, of_the_address_space) { test::compare_with_threads(1, 1'000); }
