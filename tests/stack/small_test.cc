// SPDX-License-Identifier: MIT
// The stacks of fibers: a dense range beside the large ones.
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/stack/small.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"
#include "tests/stack/limited.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace {

namespace stack = nopal::stack;
namespace small = nopal::stack::small;

constexpr std::size_t kStack = std::size_t{64} << 10;

void open_once() {
  static const bool done = [] {
    stack::open(std::size_t{1} << 20, std::size_t{64} << 20);
    small::open(kStack, true, stack::largest_frame());
    return true;
  }();
  (void)done;
}

char* deep_in(stack::stack_id id) { return reinterpret_cast<char*>(stack::bottom(id)); }
std::size_t resident(stack::stack_id id) {
  return nopal::base::resident_pages(deep_in(id), stack::top(id) - stack::bottom(id));
}
void touch_all(stack::stack_id id) { std::fill(deep_in(id), deep_in(id) + kStack, 'x'); }

TEST(small, addresses_name_their_stack) {
  open_once();
  const stack::stack_id a = small::acquire();
  const stack::stack_id large = stack::acquire();
  EXPECT_EQ(stack::top(a) - stack::bottom(a), kStack);
  EXPECT_EQ(stack::bottom(a), a + stack::largest_frame());
  EXPECT_TRUE(stack::is_ours(a));
  EXPECT_TRUE(small::holds(a));
  EXPECT_FALSE(small::holds(large));
  EXPECT_EQ(stack::stack_of(stack::top(a) - 1), a);
  EXPECT_EQ(stack::stack_of(stack::bottom(a)), a);
  EXPECT_EQ(stack::stack_of(a), a);
  EXPECT_TRUE(stack::in_guard(a));
  EXPECT_TRUE(stack::in_guard(stack::bottom(a) - 1));
  EXPECT_FALSE(stack::in_guard(stack::bottom(a)));
  EXPECT_TRUE(stack::together(stack::bottom(a), stack::top(a) - 1));
  EXPECT_FALSE(stack::together(stack::bottom(a), stack::top(large) - 1));
  EXPECT_EQ(stack::lowest_fork(a), stack::bottom(a) + (16 << 10));
  stack::release(a);
  stack::release(large);
}

TEST(small, a_released_stack_is_used_again) {
  open_once();
  const stack::stack_id a = small::acquire();
  const std::uint32_t created = small::created();
  stack::release(a);
  EXPECT_EQ(small::acquire(), a);
  EXPECT_EQ(small::created(), created);
  stack::release(a);
}

TEST(small, a_vproc_keeps_a_few_and_gives_back_the_rest) {
  open_once();
  small::kept_for_vproc kept;
  const stack::stack_id a = kept.acquire();
  const std::uint32_t created = small::created();
  kept.release(a);
  EXPECT_NE(small::acquire(), a) << "nobody else gets it";
  EXPECT_EQ(kept.acquire(), a);
  std::vector<stack::stack_id> all{a};
  for (int i = 0; i < 99; ++i)
    all.push_back(kept.acquire());
  for (const stack::stack_id each : all)
    kept.release(each);
  std::set<stack::stack_id> others;
  for (int i = 0; i < 84; ++i)
    others.insert(small::acquire());
  EXPECT_LE(small::created(), created + 100) << "most of the hundred are in the pool";
  EXPECT_EQ(others.size(), 84u);
}

std::vector<stack::stack_id> acquire_many() {
  std::vector<stack::stack_id> all;
  for (std::uint32_t i = 0; i < small::kept_stacks + 40; ++i) {
    all.push_back(small::acquire());
    touch_all(all.back());
  }
  return all;
}

TEST(small, only_some_free_ones_keep_their_pages) {
  open_once();
  const std::vector<stack::stack_id> all = acquire_many();
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  for (const stack::stack_id each : all)
    stack::release(each);
  const auto with_pages =
      std::ranges::count_if(all, [](stack::stack_id each) { return resident(each) != 0; });
  EXPECT_LE(with_pages, small::kept_stacks);
  EXPECT_GT(with_pages, small::kept_stacks / 2);
}

TEST(small, all_that_were_released_are_used_again) {
  open_once();
  for (const stack::stack_id each : acquire_many())
    stack::release(each);
  const std::uint32_t created = small::created();
  const std::vector<stack::stack_id> all = acquire_many();
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(small::created(), created);
  for (const stack::stack_id each : all)
    stack::release(each);
}

TEST(small, the_budget_does_not_count_them) {
  open_once();
  const stack::stack_id a = small::acquire();
  touch_all(a);
  const std::size_t charged = stack::measure().charged_pages;
  stack::retire(a, stack::top(a));
  EXPECT_EQ(stack::measure().charged_pages, charged);
  EXPECT_TRUE(stack::reuse(a, {}));
  EXPECT_EQ(stack::measure().small_created, small::created());
  stack::release(a);
}

TEST(small_death, the_guard_faults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        open_once();
        const stack::stack_id a = small::acquire();
        static_cast<volatile char*>(deep_in(a))[-1] = 'x';
      },
      "");
}

// Stacks give their pages back together with what lies between them.
TEST(small_death, the_guard_faults_after_many_were_released) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        open_once();
        for (const stack::stack_id each : acquire_many())
          stack::release(each);
        const std::vector<stack::stack_id> all = acquire_many();
        static_cast<volatile char*>(deep_in(all[all.size() / 2]))[-1] = 'x';
      },
      "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(NOPAL_TSAN) // their shadow memory counts, too
TEST(small_death, all_are_in_use) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        nopal_test::limit(RLIMIT_AS, std::size_t{8} << 30);
        open_once();
        for (;;)
          small::acquire();
      },
      testing::ExitedWithCode(70),
      "^nopal: all [0-9]+ stacks of fibers are in use, as many as the limit on virtual memory "
      "\\(ulimit -v\\) allows: raise that, lower NOPAL_FIBER_STACK_SIZE or NOPAL_STACK_SIZE, or "
      "let fewer fibers begin before others end\n$");
}
#endif

// Each guard splits a mapping where the kernel has no guard regions.
TEST(small, says_how_many_there_may_be) {
  open_once();
  if (nopal_test::on_valgrind())
    GTEST_SKIP() << "Valgrind leaves fewer addresses for stacks";
  const std::size_t by_mappings = nopal::base::max_mappings() / 2;
  EXPECT_EQ(small::capacity() == small::most_stacks,
            small::guarded_by() == small::guard::region || by_mappings > small::most_stacks);
}

} // namespace
