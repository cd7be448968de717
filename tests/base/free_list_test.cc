// SPDX-License-Identifier: MIT
// The list of free numbers, by one thread and by many.
#include "nopal/base/free_list.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using nopal::base::free_list;

TEST(free_lists, give_the_last_first_and_no_more_than_there_are) {
  free_list::link links[3];
  free_list list;
  list.open(links, sizeof(free_list::link));
  EXPECT_EQ(list.take(), free_list::none);
  EXPECT_EQ(list.create(2), 0u);
  EXPECT_EQ(list.create(2), 1u);
  EXPECT_EQ(list.create(2), free_list::none);
  EXPECT_EQ(list.created(), 2u);
  list.put(0);
  list.put(1);
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.take(), 1u);
  EXPECT_EQ(list.take(), 0u);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.take(), free_list::none);
}

TEST(free_lists, give_a_number_to_one_thread_at_a_time) {
  constexpr unsigned kThreads = 4;
  free_list::link links[kThreads];
  std::atomic<int> users[kThreads]{};
  free_list list;
  list.open(links, sizeof(free_list::link));
  std::atomic<bool> shared{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20000; ++round) {
        std::uint32_t number = list.take();
        if (number == free_list::none)
          number = list.create(kThreads);
        if (number >= kThreads || users[number]++ != 0)
          shared = true;
        else
          --users[number];
        if (number < kThreads)
          list.put(number);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_FALSE(shared);
  unsigned listed = 0;
  while (list.take() != free_list::none)
    ++listed;
  EXPECT_EQ(listed, list.created());
}

} // namespace
} // namespace nopal_test
