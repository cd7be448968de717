// SPDX-License-Identifier: MIT
// Items in batches: their order, and how many a batch has.
#include "nopal/sync/batch_queue.h"

#include "nopal/sync/runner_items.h"

#include "item.h"

#include <gtest/gtest.h>

#include <vector>

namespace nopal_test {
namespace {

using namespace nopal::sync;

struct batches : testing::Test {
  batch_queue<item, 3> queue;
  item all[12];

  void append(int from, int to) {
    for (int i = from; i < to; ++i)
      queue.append(&all[i]);
  }
  // The numbers of the items, as the links name them.
  std::vector<long> numbers(batch<item> of) const {
    std::vector<long> found;
    item* at = of.first;
    for (std::uint32_t i = 0; i < of.number; ++i, at = at->next)
      found.push_back(at - all);
    return found;
  }
  std::vector<long> take() { return numbers(queue.take()); }
};
using numbers_of = std::vector<long>;

TEST_F(batches, come_in_order_and_are_never_larger) {
  EXPECT_EQ(take(), numbers_of{});
  append(0, 8);
  EXPECT_EQ(queue.count(), 8u);
  EXPECT_EQ(take(), (numbers_of{0, 1, 2}));
  append(8, 9);
  EXPECT_EQ(take(), (numbers_of{3, 4, 5}));
  EXPECT_EQ(take(), (numbers_of{6, 7, 8}));
  append(9, 11);
  EXPECT_EQ(take(), (numbers_of{9, 10}));
  EXPECT_EQ(take(), numbers_of{});
  EXPECT_EQ(queue.count(), 0u);
  append(11, 12);
  EXPECT_EQ(take(), (numbers_of{11}));
}

TEST_F(batches, what_is_prepended_comes_first) {
  append(0, 4);
  for (int i = 4; i < 9; ++i)
    queue.prepend(&all[i]);
  EXPECT_EQ(queue.count(), 9u);
  EXPECT_EQ(take(), (numbers_of{8, 7}));
  EXPECT_EQ(take(), (numbers_of{6, 5, 4}));
  EXPECT_EQ(take(), (numbers_of{0, 1, 2}));
  EXPECT_EQ(take(), (numbers_of{3}));
  for (int i = 0; i < 4; ++i)
    queue.prepend(&all[i]); // the batch that is closed is the only one
  append(4, 8);
  EXPECT_EQ(take(), (numbers_of{3}));
  EXPECT_EQ(take(), (numbers_of{2, 1, 0}));
  EXPECT_EQ(take(), (numbers_of{4, 5, 6}));
  EXPECT_EQ(take(), (numbers_of{7}));
}

TEST_F(batches, a_runner_keeps_the_rest_and_others_steal_the_last_half) {
  runner_items<item> own;
  append(0, 3);
  EXPECT_TRUE(own.keep_rest(queue.take()));
  EXPECT_FALSE(own.prepend(&all[5]));
  EXPECT_FALSE(own.prepend(&all[4]));
  EXPECT_EQ(own.count(), 4u);
  EXPECT_EQ(numbers(own.steal_half()), (numbers_of{1, 2}));
  EXPECT_EQ(numbers(own.steal_half()), (numbers_of{5}));
  EXPECT_EQ(own.take(), &all[4]);
  EXPECT_EQ(own.take(), nullptr);
  EXPECT_EQ(own.steal_half().number, 0u);
  append(6, 7);
  EXPECT_FALSE(own.keep_rest(queue.take())) << "there is none behind the first";
  EXPECT_TRUE(own.prepend(&all[6]));
  EXPECT_EQ(numbers(own.steal_half()), (numbers_of{6})) << "half of one is one";
  EXPECT_EQ(own.take(), nullptr);
}

TEST_F(batches, what_a_runner_keeps_is_stolen_if_it_does_not_get_on) {
  runner_items<item> own;
  append(0, 3);
  append(3, 6);
  own.keep_rest(queue.take());
  own.take();
  EXPECT_EQ(own.steal_stuck().number, 0u) << "it has taken one since";
  EXPECT_EQ(numbers(own.steal_stuck()), (numbers_of{2}));
  EXPECT_EQ(own.steal_stuck().number, 0u);
  own.keep_rest(queue.take());
  EXPECT_EQ(numbers(own.steal_stuck()), (numbers_of{4, 5}));
  EXPECT_EQ(own.take(), nullptr);
}

} // namespace
} // namespace nopal_test
