// SPDX-License-Identifier: MIT
// A deque's owner against real thieves, for minutes, for each of `all_deques`.
#pragma once

#include "tests/deque/deque_stress.h"

namespace nopal_test {

template <class Deque> class deques : public testing::Test {};
TYPED_TEST_SUITE(deques, all_deques);

TYPED_TEST(deques, many_rounds) {
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    stress<TypeParam>(false, 1 + static_cast<int>(seed % 4), seed, 2'000'000);
    stress<TypeParam>(true, 1 + static_cast<int>(seed % 4), seed, 200'000);
    if (testing::Test::HasFailure())
      FAIL() << "seed " << seed;
  }
}

} // namespace nopal_test
