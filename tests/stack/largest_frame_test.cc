// SPDX-License-Identifier: MIT
// No frame of a function that forks leaps over a guard, on whatever stack, and however the guards
// are made.
#include "nopal/base/os.h"
#include "nopal/stack/small.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"
#include "tests/stack/limited.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nopal_test {
namespace {

namespace stack = nopal::stack;
using nopal::base::page_size;
using stack::stack_id;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// Whether none of the pages is readable that a frame below this stack may reach, and all of the
// stack's are writable.
bool is_guarded(stack_id id) {
  const std::uintptr_t bottom = stack::bottom(id);
  for (std::uintptr_t at = bottom - stack::largest_frame(); at < bottom; at += page_size())
    if (is_readable(at) || !stack::in_guard(at) || stack::stack_of(at) != id)
      return false;
  for (std::uintptr_t at = bottom; at < stack::top(id); at += page_size())
    *reinterpret_cast<volatile char*>(at) = 'x';
  return !stack::in_guard(bottom) && is_readable(bottom) && is_readable(stack::top(id) - 1);
}

// Returns how many of the stacks are not guarded; half of them are made after `meanwhile`.
template <class Meanwhile>
std::size_t unguarded(std::size_t large, std::size_t small, Meanwhile meanwhile) {
  stack::open(large, 64 * kMiB);
  stack::small::open(small, true, stack::largest_frame());
  const std::size_t count = large > kMiB ? 3 : 20;
  std::vector<stack_id> all;
  for (const bool late : {false, true}) {
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(stack::small::acquire());
      all.push_back(stack::acquire());
    }
    if (!late && !meanwhile())
      return 1000;
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [](stack_id each) { return !is_guarded(each); }));
}

constexpr auto nothing = [] { return true; };
const auto lock_all = [] { return mlockall(MCL_CURRENT | MCL_FUTURE) == 0; };

template <class Before, class Meanwhile> void expect_guards(Before before, Meanwhile meanwhile) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind leaves few addresses, and reads for the kernel";
  for (const std::size_t large : {64 * kKiB, kMiB, 8 * kMiB})
    for (const std::size_t small : {32 * kKiB, 256 * kKiB, kMiB})
      EXPECT_EQ(apart([&] { return before() ? unguarded(large, small, meanwhile) : 2000; }), 0u)
          << large << ' ' << small;
}

TEST(largest_frame, is_caught) { expect_guards(nothing, nothing); }

TEST(largest_frame, is_caught_on_the_largest_stacks) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind leaves few addresses, and reads for the kernel";
  EXPECT_EQ(apart([] { return unguarded(32 * kMiB, 256 * kKiB, nothing); }), 0u);
}

TEST(largest_frame, is_caught_where_the_kernel_has_no_guard_regions) {
  expect_guards(forbid_guard_regions, nothing);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(NOPAL_TSAN) // their shadow memory counts, too

TEST(largest_frame, is_caught_where_data_is_limited) {
  expect_guards([] { return limit(RLIMIT_DATA, std::size_t{1} << 40); }, nothing);
}

bool may_lock_all() {
  return apart([] { return lock_all() ? 1 : 0; }) == 1u;
}

TEST(largest_frame, is_caught_where_memory_is_locked_before) {
  if (!may_lock_all())
    GTEST_SKIP() << "this process may not lock its memory";
  expect_guards(lock_all, nothing);
}

TEST(largest_frame, is_caught_where_memory_is_locked_meanwhile) {
  if (!may_lock_all())
    GTEST_SKIP() << "this process may not lock its memory";
  expect_guards(nothing, lock_all);
}

TEST(largest_frame, is_caught_where_memory_was_locked_for_a_while) {
  if (!may_lock_all())
    GTEST_SKIP() << "this process may not lock its memory";
  expect_guards(lock_all, [] { return munlockall() == 0; });
}

#endif

// Without guards slots are as small as stacks.
TEST(largest_frame, no_guards_take_no_addresses) {
  EXPECT_EQ(apart([] {
              stack::open(kMiB, 64 * kMiB);
              stack::small::open(256 * kKiB, false, stack::largest_frame());
              const stack_id a = stack::small::acquire();
              return stack::top(a) - a == 256 * kKiB && stack::bottom(a) == a ? 1 : 0;
            }),
            1u);
}

} // namespace
} // namespace nopal_test
