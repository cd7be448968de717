// SPDX-License-Identifier: MIT
// Computations are given each vproc once, and first those that the fewest others have.
#include "nopal/sync/provision.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

struct given {
  std::uint32_t computations = 0;
};

TEST(provision, the_vproc_that_the_fewest_have_comes_first) {
  using sets = nopal::sync::provisions<given, 70>;
  nopal::base::spin_lock lock;
  given vprocs[70];
  const auto at = [&](std::size_t i) { return &vprocs[i]; };
  sets first, second;
  EXPECT_FALSE(first.any());
  EXPECT_EQ(first.take(lock, 3, at), 0u);
  EXPECT_EQ(second.take(lock, 3, at), 1u);
  EXPECT_EQ(first.take(lock, 3, at), 2u);
  EXPECT_EQ(first.take(lock, 3, at), 1u);
  EXPECT_EQ(first.take(lock, 3, at), sets::none); // it has all of them
  EXPECT_TRUE(first.any());
  EXPECT_EQ(vprocs[1].computations, 2u);
  EXPECT_TRUE(first.give_back(lock, 1, &vprocs[1]));
  EXPECT_FALSE(first.give_back(lock, 1, &vprocs[1]));
  EXPECT_EQ(vprocs[1].computations, 1u);
}

TEST(provision, many_vprocs_take_more_than_one_word) {
  using sets = nopal::sync::provisions<given, 70>;
  nopal::base::spin_lock lock;
  given vprocs[70];
  const auto at = [&](std::size_t i) { return &vprocs[i]; };
  sets all;
  for (std::size_t i = 0; i < 70; ++i)
    EXPECT_EQ(all.take(lock, 70, at), i);
  EXPECT_EQ(all.take(lock, 70, at), sets::none);
  for (std::size_t i = 0; i < 70; ++i)
    EXPECT_TRUE(all.give_back(lock, i, &vprocs[i]));
  EXPECT_FALSE(all.any());
}

} // namespace
} // namespace nopal_test
