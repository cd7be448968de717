// SPDX-License-Identifier: MIT
// Stacks: their bounds, their reuse, their pages; and the search for marked places.
#include "nopal/base/random.h"
#include "nopal/stack/marks.h"
#include "nopal/stack/stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

namespace stack = nopal::stack;
using stack::stack_id;

constexpr std::size_t kBytes = std::size_t{512} << 10;
constexpr std::size_t kPage = 4096;

// One range for the process, as the runtime has.
class stacks : public testing::Test {
protected:
  static void SetUpTestSuite() {
    static std::once_flag once;
    std::call_once(once, [] { stack::open(kBytes, 0); });
  }
};

void touch(std::uintptr_t at) { *reinterpret_cast<volatile char*>(at) = 1; }

TEST_F(stacks, bounds) {
  const stack_id a = stack::acquire();
  EXPECT_EQ(a % stack::slot_bytes(), 0u);
  EXPECT_EQ(stack::size(), kBytes);
  EXPECT_EQ(stack::top(a) - stack::bottom(a), kBytes);
  EXPECT_GT(stack::lowest_fork(a), stack::bottom(a));
  EXPECT_LT(stack::lowest_fork(a), stack::top(a));
  for (const std::uintptr_t at : {stack::bottom(a), stack::top(a) - 1}) {
    EXPECT_TRUE(stack::is_ours(at));
    EXPECT_FALSE(stack::in_guard(at));
    EXPECT_EQ(stack::stack_of(at), a);
    touch(at);
  }
  EXPECT_TRUE(stack::in_guard(stack::bottom(a) - 1));
  EXPECT_TRUE(stack::in_guard(stack::bottom(a) - (std::size_t{8} << 20)));
  stack::release(a);
}

TEST_F(stacks, what_is_not_ours) {
  int local = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(&local);
  EXPECT_FALSE(stack::is_ours(at));
  EXPECT_FALSE(stack::in_guard(at));
  EXPECT_FALSE(stack::is_ours(0));
}

TEST_F(stacks, below_a_stack_nothing_may_be_touched) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const stack_id a = stack::acquire();
  EXPECT_DEATH(touch(stack::bottom(a) - 1), "");
  stack::release(a);
}

using stacks_death = stacks;

TEST_F(stacks_death, all_are_in_use) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (;;)
          stack::acquire();
      },
      testing::ExitedWithCode(70),
      "^nopal: all [0-9]+ stacks are in use, as many as (a quarter of vm.max_map_count allows: "
      "raise that|the reserved address space allows); let fewer strands wait at a time, or let "
      "spawned fibers wait, of which there may be more\n$");
}

TEST_F(stacks, are_used_again) {
  const stack_id a = stack::acquire();
  const stack_id b = stack::acquire();
  EXPECT_NE(a, b);
  const std::size_t created = stack::measure().created;
  stack::release(a);
  stack::release(b);
  const std::set<stack_id> again{stack::acquire(), stack::acquire()};
  EXPECT_EQ(again, (std::set<stack_id>{a, b}));
  EXPECT_EQ(stack::measure().created, created);
  for (const stack_id each : again)
    stack::release(each);
}

// A stack belongs to one thread at a time: each writes its number and finds it there.
TEST_F(stacks, belong_to_one_at_a_time) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int t = 1; t <= kThreads; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 20000; ++i) {
        const stack_id mine = stack::acquire();
        auto* const word = reinterpret_cast<std::atomic<int>*>(stack::top(mine) - 64);
        ASSERT_EQ(word->exchange(t), 0);
        ASSERT_EQ(word->exchange(0), t);
        stack::release(mine);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_LE(stack::measure().created, 16u);
}

// How many pages a stack gives back when it is left; the budget is 0.
std::uint64_t returned_by(stack_id left, std::uintptr_t retired_below) {
  const std::uint64_t before = stack::measure().pages_returned;
  stack::retire(left, retired_below);
  return stack::measure().pages_returned - before;
}

TEST_F(stacks, pages_below_a_frame_go_back_and_those_above_stay) {
  const stack_id a = stack::acquire();
  const std::uintptr_t frame = stack::top(a) - 10 * kPage + 100;
  std::memset(reinterpret_cast<void*>(stack::bottom(a)), 7, kBytes);
  const stack::usage before = stack::measure();
  const std::size_t below = kBytes / kPage - 10;
  EXPECT_EQ(returned_by(a, frame), below);
  EXPECT_EQ(stack::measure().resident_pages, before.resident_pages - below);
  EXPECT_EQ(stack::measure().unmaps, before.unmaps + 1);
  EXPECT_EQ(*reinterpret_cast<char*>(frame), 7);
  EXPECT_EQ(*reinterpret_cast<char*>(frame - 100), 7) << "the frame's own page stays";
  EXPECT_EQ(stack::measure().counts, before.counts) << "nobody asks how many there are";
  EXPECT_EQ(*reinterpret_cast<char*>(stack::bottom(a)), 0);
  EXPECT_EQ(returned_by(a, stack::bottom(a) + 1), 0u) << "nothing lies below that";
  stack::release(a);
  EXPECT_EQ(stack::measure().resident_pages, before.resident_pages - kBytes / kPage)
      << "a pooled stack has none";
  EXPECT_EQ(stack::measure().charged_pages, 0u);
}

class marked : public stacks {
protected:
  void SetUp() override { at_ = stack::acquire(); }
  void TearDown() override {
    stack::retire(at_, stack::top(at_));
    stack::release(at_);
  }
  std::uintptr_t word(std::size_t index) const { return stack::bottom(at_) + 8 * index; }
  static void* pointer(std::uintptr_t at) { return reinterpret_cast<void*>(at); }
  static constexpr std::size_t kWords = kBytes / 8;

  stack_id at_ = stack::no_stack;
};

std::uintptr_t highest_of(const std::set<std::uintptr_t>& places, std::uintptr_t from,
                          std::uintptr_t to) {
  const auto above = places.lower_bound(to);
  if (above == places.begin())
    return 0;
  const std::uintptr_t at = *std::prev(above);
  return at >= from ? at : 0;
}

TEST_F(marked, the_highest_is_found_among_random_ones) {
  nopal::base::random random;
  random.reseed(5, 1);
  std::set<std::uintptr_t> places;
  std::set<std::uintptr_t> claimed;
  for (int i = 0; i < 4000; ++i) {
    const std::uintptr_t at = word(random.below(kWords));
    if (random.below(3) != 0) {
      stack::marks::open(pointer(at));
      claimed.erase(at);
      places.insert(at);
      if (random.below(3) == 0) {
        EXPECT_TRUE(stack::marks::claim(at));
        claimed.insert(at);
      }
    } else if (!places.empty()) {
      const auto some = places.lower_bound(at);
      const std::uintptr_t gone = some == places.end() ? *places.begin() : *some;
      EXPECT_EQ(stack::marks::close(pointer(gone)), claimed.erase(gone) == 0);
      places.erase(gone);
    }
    const std::uintptr_t a = word(random.below(kWords));
    const std::uintptr_t b = word(random.below(kWords));
    const std::uintptr_t from = std::min(a, b);
    const std::uintptr_t to = std::max(a, b);
    ASSERT_EQ(stack::marks::highest(from, to), highest_of(places, from, to)) << "step " << i;
  }
}

TEST_F(marked, a_mark_is_found_wherever_it_lies) {
  EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_)), 0u);
  for (std::size_t index = 0; index < kWords; index += 61) {
    stack::marks::open(pointer(word(index)));
    for (const std::size_t end : {index + 1, std::min(index + 3000, kWords), kWords})
      ASSERT_EQ(stack::marks::highest(word(0), word(end)), word(index)) << index << " of " << end;
    ASSERT_EQ(stack::marks::highest(word(0), word(index)), 0u);
    ASSERT_EQ(stack::marks::highest(word(index + 1), stack::top(at_)), 0u);
    EXPECT_TRUE(stack::marks::close(pointer(word(index))));
    // So that most of the stack has no memory, as below a frame that nobody has filled.
    stack::retire(at_, stack::top(at_));
  }
}

// The search begins in the middle of a page. The number of pages decides where it passes from pages
// that it reads without asking the kernel to those it asks for, in one call or several.
TEST_F(marked, a_mark_is_found_at_the_lower_end_of_what_has_memory) {
  for (std::size_t unaligned = 0; unaligned < kPage; unaligned += 200)
    for (const std::size_t pages : {0u, 1u, 2u, 64u, 65u, 127u}) {
      const std::uintptr_t to = stack::top(at_) - unaligned;
      const std::uintptr_t lowest_page = ((to - 8) & ~(kPage - 1)) - pages * kPage;
      stack::marks::open(pointer(lowest_page));
      ASSERT_EQ(stack::marks::highest(word(0), to), lowest_page) << unaligned << ", " << pages;
      EXPECT_TRUE(stack::marks::close(pointer(lowest_page)));
      stack::retire(at_, stack::top(at_));
    }
}

// A thief that finds nothing leaves a stack as small as it was.
TEST_F(marked, a_search_reads_no_page_that_was_never_used_but_the_uppermost) {
  for (const std::size_t unaligned : {std::size_t{0}, std::size_t{8}, kPage - 8}) {
    stack::retire(at_, stack::top(at_));
    const std::size_t before = stack::measure().resident_pages;
    EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_) - unaligned), 0u);
    EXPECT_LE(stack::measure().resident_pages, before + 1) << unaligned;
  }
}

TEST_F(marked, an_empty_range_has_none) {
  stack::marks::open(pointer(word(7)));
  EXPECT_EQ(stack::marks::highest(word(7), word(7)), 0u);
  EXPECT_EQ(stack::marks::highest(word(7), word(3)), 0u);
  EXPECT_EQ(stack::marks::highest(word(7), 0), 0u) << "what a deque without a stack asks for";
}

TEST_F(marked, only_what_is_open_can_be_claimed) {
  const std::uintptr_t at = word(100);
  EXPECT_FALSE(stack::marks::claim(at));
  EXPECT_EQ(*static_cast<std::uintptr_t*>(pointer(at)), 0u) << "a word of somebody else's";
  stack::marks::open(pointer(at));
  EXPECT_FALSE(stack::marks::claimed(at));
  EXPECT_TRUE(stack::marks::claim(at) && stack::marks::claim(at));
  EXPECT_TRUE(stack::marks::claimed(at));
  EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_)), at);
  EXPECT_FALSE(stack::marks::close(pointer(at)));
  EXPECT_FALSE(stack::marks::claim(at) || stack::marks::claimed(at));
  EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_)), 0u);
}

TEST_F(marked, other_words_are_no_marks) {
  std::memset(reinterpret_cast<void*>(stack::bottom(at_)), 0xff, kBytes);
  EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_)), 0u);
  // Words that hold addresses near their own.
  for (std::size_t offset = 0; offset < 4096; ++offset)
    *static_cast<std::uintptr_t*>(pointer(word(8 * offset))) = word(8 * offset) + offset - 2048;
  EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_)), 0u);
  // A mark that was copied to another word, as by a frame that saves the word of a fork.
  stack::marks::open(pointer(word(100)));
  *reinterpret_cast<std::uintptr_t*>(word(200)) = *reinterpret_cast<std::uintptr_t*>(word(100));
  EXPECT_EQ(stack::marks::highest(word(0), stack::top(at_)), word(100));
}

} // namespace
} // namespace nopal_test
