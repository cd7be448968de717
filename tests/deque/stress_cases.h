// SPDX-License-Identifier: MIT
// A deque's owner against real thieves, for each of `all_deques`.
#pragma once

#include "tests/deque/deque_stress.h"

namespace nopal_test {

template <class Deque> class deques : public testing::Test {};
TYPED_TEST_SUITE(deques, all_deques);

TYPED_TEST(deques, one_thief) { stress<TypeParam>(false, 1, 1, 1'000'000); }
TYPED_TEST(deques, three_thieves) { stress<TypeParam>(false, 3, 2, 500'000); }
TYPED_TEST(deques, one_thief_without_the_heavy_barrier) { stress<TypeParam>(true, 1, 3, 200'000); }
TYPED_TEST(deques, three_thieves_without_the_heavy_barrier) {
  stress<TypeParam>(true, 3, 4, 100'000);
}

} // namespace nopal_test
