// SPDX-License-Identifier: MIT
// Ten thousand sequences of model.h.
#include "model_compare.h"

TEST(mapped_model, of_the_address_space_in_ten_thousand_sequences) {
  test::compare_with_threads(1, 10'000);
}
