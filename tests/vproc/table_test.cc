// SPDX-License-Identifier: MIT
// The table: which slot a worker gets, what is used again, and what a look at the others finds.
#include "nopal/vproc/table.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <thread>

namespace nopal_test {
namespace {

using nopal::vproc::slots_in_use;
using nopal::vproc::take_worker;
using nopal::vproc::worker;
using nopal::vproc::worker_in;

TEST(table, the_lowest_free_slot_goes_first) {
  const idle_vproc first;
  const idle_vproc third;
  const std::uint32_t slots = slots_in_use();
  worker* const low = take_worker(first.get());
  worker* const high = take_worker(first.get());
  EXPECT_EQ(low->slot, slots);
  EXPECT_EQ(high->slot, slots + 1);
  EXPECT_EQ(worker_in(slots), low);
  nopal::vproc::return_worker(low);
  EXPECT_EQ(worker_in(slots), nullptr);
  EXPECT_EQ(slots_in_use(), slots + 2) << "a slot behind is in use";
  worker* const next = take_worker(third.get());
  EXPECT_EQ(next->slot, slots);
  nopal::vproc::return_worker(next);
  nopal::vproc::return_worker(high);
  EXPECT_EQ(slots_in_use(), slots) << "free slots at the end are looked at no more";
}

TEST(table, a_worker_is_used_again_and_belongs_to_nobody_meanwhile) {
  const idle_vproc giver;
  const idle_vproc taker;
  nopal::vproc::group group;
  worker* const returned = take_worker(giver.get());
  int error = 5;
  returned->group = &group;
  returned->deque.error.set(&error);
  nopal::vproc::return_worker(returned);
  EXPECT_EQ(returned->host, nullptr);
  EXPECT_EQ(returned->group, nullptr);
  EXPECT_EQ(returned->deque.error.read(), 0) << "no strand, no errno";
  worker* const again = take_worker(taker.get());
  EXPECT_EQ(again, returned);
  EXPECT_EQ(again->host, taker.get());
  nopal::vproc::return_worker(again);
}

TEST(table, a_vproc_is_used_again_and_keeps_its_number) {
  nopal::vproc::vproc* const first = nopal::vproc::take_vproc();
  const std::uint32_t number = first->number;
  const std::uint32_t ever = nopal::vproc::vprocs_ever();
  EXPECT_LT(number, ever);
  EXPECT_EQ(nopal::vproc::vproc_at(number), first);
  nopal::vproc::return_vproc(first);
  EXPECT_EQ(nopal::vproc::vproc_at(number), first) << "what others have seen stays";
  EXPECT_EQ(nopal::vproc::take_vproc(), first);
  EXPECT_EQ(nopal::vproc::vprocs_ever(), ever);
  nopal::vproc::vproc* const second = nopal::vproc::take_vproc();
  EXPECT_NE(second, first);
  nopal::vproc::return_vproc(second);
  nopal::vproc::return_vproc(first);
}

TEST(table, a_vproc_of_the_pool_stays_in_the_pool) {
  const std::uint32_t pool = nopal::vproc::pool_size();
  nopal::vproc::vproc* const made = nopal::vproc::add_pool_vproc();
  EXPECT_TRUE(made->in_pool);
  EXPECT_EQ(nopal::vproc::pool_size(), pool + 1);
  EXPECT_EQ(nopal::vproc::pool_vproc(pool), made);
  EXPECT_EQ(nopal::vproc::vproc_at(made->number), made);
  nopal::vproc::vproc* const external = nopal::vproc::take_vproc();
  EXPECT_FALSE(external->in_pool);
  nopal::vproc::return_vproc(external);
}

// Computations are given the pool's vprocs, but for spares (fibers/places.cc).
TEST(table, a_spares_vproc_is_one_when_others_find_it_in_the_pool) {
  const std::uint32_t pool = nopal::vproc::pool_size();
  bool is_spare = false;
  std::thread reader{[&] {
    while (nopal::vproc::pool_size() == pool)
      std::this_thread::yield();
    is_spare = nopal::vproc::pool_vproc(pool)->spare.get();
  }};
  nopal::vproc::add_pool_vproc(true);
  reader.join();
  EXPECT_TRUE(is_spare);
}

// A strand waits with open forks: its worker stays with it, and the vproc goes on with another.
TEST(table, another_worker_takes_the_place_of_the_one_that_is_left) {
  const own_vproc own;
  nopal::vproc::group group;
  worker* const left = own.worker();
  left->group = &group;
  worker* const next = nopal::vproc::replace_worker(left);
  EXPECT_NE(next, left);
  EXPECT_EQ(next->slot, left->slot);
  EXPECT_EQ(worker_in(left->slot), next);
  EXPECT_EQ(next->group, &group);
  EXPECT_EQ(next->host, own.get());
  EXPECT_EQ(left->host, nullptr) << "no vproc runs it";
  EXPECT_EQ(nopal::vproc::current(), next);

  nopal::vproc::put_back_worker(next, left);
  EXPECT_EQ(worker_in(left->slot), left);
  EXPECT_EQ(left->host, own.get());
  EXPECT_EQ(next->host, nullptr);
  EXPECT_EQ(nopal::vproc::current(), left);
  worker* const again = take_worker(own.get());
  EXPECT_EQ(again, next) << "it was returned";
  nopal::vproc::return_worker(again);
}

TEST(table, a_look_at_the_others_finds_each_once_and_not_its_own) {
  const idle_vproc own;
  const idle_vproc first;
  const idle_vproc second;
  std::multiset<worker*> workers;
  EXPECT_FALSE(nopal::vproc::any_other_worker(own.worker(), [&](worker* found) {
    workers.insert(found);
    return false;
  }));
  EXPECT_EQ(workers.count(first.worker()), 1u);
  EXPECT_EQ(workers.count(second.worker()), 1u);
  EXPECT_EQ(workers.count(own.worker()), 0u);
  EXPECT_EQ(workers.count(nullptr), 0u);

  std::multiset<nopal::vproc::vproc*> vprocs;
  EXPECT_FALSE(nopal::vproc::any_other_vproc(own.get(), [&](nopal::vproc::vproc* found) {
    vprocs.insert(found);
    return false;
  }));
  EXPECT_EQ(vprocs.count(first.get()), 1u);
  EXPECT_EQ(vprocs.count(own.get()), 0u);
}

TEST(table, a_look_at_the_others_ends_at_the_first_that_is_wanted) {
  const idle_vproc own;
  const idle_vproc first;
  const idle_vproc second;
  int looks = 0;
  EXPECT_TRUE(nopal::vproc::any_other_worker(own.worker(), [&](worker*) {
    ++looks;
    return true;
  }));
  EXPECT_EQ(looks, 1);
}

TEST(table, a_flag_is_cleared_only_while_no_group_is_in_use) {
  nopal::base::atomic<std::uint32_t> flag{1};
  nopal::vproc::group* const group = nopal::vproc::take_group();
  EXPECT_FALSE(nopal::vproc::clear_if_no_group(flag));
  EXPECT_EQ(flag.load(), 1u);
  nopal::vproc::return_group(group);
  EXPECT_TRUE(nopal::vproc::clear_if_no_group(flag));
  EXPECT_EQ(flag.load(), 0u);
  EXPECT_EQ(nopal::vproc::take_group(), group) << "groups are used again";
  nopal::vproc::return_group(group);
}

// The next thread that runs the worker finds no pointer to data of the thread that has ended.
TEST(table, a_worker_is_left_to_the_next_thread_without_what_is_its_threads) {
  const own_vproc own;
  int error = 5;
  own->error = &error;
  own.worker()->deque.error.set(&error);
  own.worker()->exceptions = &nopal::join::always_alive;
  nopal::vproc::leave_to_next_thread(own.worker());
  EXPECT_EQ(own->error, nullptr);
  EXPECT_EQ(own->exceptions, &nopal::join::no_exceptions);
  EXPECT_FALSE(own.worker()->exceptions->alive());
  EXPECT_EQ(own.worker()->deque.error.read(), 0);
}

TEST(table_death, more_threads_than_there_is_room_for) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (;;)
          nopal::vproc::take_vproc();
      },
      testing::ExitedWithCode(70),
      "^nopal: more than 8192 threads use Nopal at the same time, blocked ones counted; let fewer "
      "fork at a time\n$");
}

TEST(table_death, more_regions_than_there_is_room_for) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        nopal::vproc::vproc* const host = nopal::vproc::take_vproc();
        for (;;)
          take_worker(host);
      },
      testing::ExitedWithCode(70),
      "^nopal: more than 8192 threads and affine regions use Nopal at the same time, blocked ones "
      "counted; begin fewer at a time\n$");
}

} // namespace
} // namespace nopal_test
