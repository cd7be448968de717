// SPDX-License-Identifier: MIT
// What the limits of a process leave to it, the message where they refuse memory, and `growing`,
// which takes no more of them than it uses.
#include "nopal/base/growing.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "tests/api/support.h"
#include "tests/stack/limited.h"

#include <gtest/gtest.h>

#include <string_view>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using nopal::base::growing;
constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(growing, is_usable_as_far_as_was_asked_for) {
  growing memory;
  ASSERT_TRUE(memory.open(3 * growing::piece));
  const auto start = reinterpret_cast<std::uintptr_t>(memory.start());
  EXPECT_FALSE(memory.holds(1));
  EXPECT_FALSE(is_readable(start));
  ASSERT_TRUE(memory.reach(1));
  EXPECT_TRUE(memory.holds(growing::piece));
  EXPECT_FALSE(memory.holds(growing::piece + 1));
  static_cast<char*>(memory.start())[growing::piece - 1] = 'x';
  EXPECT_TRUE(is_readable(start + growing::piece - 1));
  if (!on_valgrind()) {
    EXPECT_FALSE(is_readable(start + growing::piece));
  }
  ASSERT_TRUE(memory.reach(3 * growing::piece));
  EXPECT_EQ(static_cast<char*>(memory.start())[growing::piece - 1], 'x');
  EXPECT_EQ(static_cast<char*>(memory.start())[3 * growing::piece - 1], '\0');
}

TEST(growing, may_be_asked_by_several_threads) {
  growing memory;
  constexpr std::size_t pieces = 64;
  ASSERT_TRUE(memory.open(pieces * growing::piece));
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < 4; ++i)
    all.emplace_back([&memory, i] {
      for (std::size_t at = i; at < pieces; at += 4)
        if (memory.reach((at + 1) * growing::piece))
          static_cast<char*>(memory.start())[at * growing::piece] = static_cast<char>(at + 1);
    });
  for (std::thread& each : all)
    each.join();
  for (std::size_t at = 0; at < pieces; ++at)
    EXPECT_EQ(static_cast<char*>(memory.start())[at * growing::piece], static_cast<char>(at + 1));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(NOPAL_TSAN) // their shadow memory counts, too

std::uint64_t said(const nopal::base::reason& why, std::string_view what) {
  return std::string_view(why.text).find(what) != std::string_view::npos ? 1 : 0;
}

TEST(limits, on_addresses) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind's own memory counts, too";
  EXPECT_EQ(apart([] {
              if (nopal::base::what_limits_addresses() != nullptr || !limit(RLIMIT_AS, 300 * kMiB))
                return std::uint64_t{2};
              const std::size_t left = nopal::base::address_space_left();
              if (left > 300 * kMiB || left < 100 * kMiB ||
                  nopal::base::what_limits_addresses() == nullptr ||
                  nopal::base::reserve(left + kMiB, 4096) != nullptr)
                return std::uint64_t{3};
              return said(nopal::base::why_refused(left + kMiB), "307200 KiB") *
                     said(nopal::base::why_refused(left + kMiB), "ulimit -v");
            }),
            1u);
}

TEST(limits, on_data) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind's own memory counts, too";
  EXPECT_EQ(apart([] {
              void* const memory = nopal::base::reserve(100 * kMiB, 4096);
              if (!limit(RLIMIT_DATA, 50 * kMiB) || memory == nullptr ||
                  !nopal::base::writable_memory_is_limited() ||
                  nopal::base::commit(memory, 100 * kMiB))
                return std::uint64_t{2};
              return said(nopal::base::why_refused(100 * kMiB), "ulimit -d");
            }),
            1u);
}

TEST(limits, on_what_may_be_locked) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind's own memory counts, too";
  EXPECT_EQ(apart([] {
              if (!limit(RLIMIT_MEMLOCK, 4 * kMiB) ||
                  (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) ||
                  mlockall(MCL_FUTURE) != 0)
                return std::uint64_t{1}; // not possible here
              void* const memory = nopal::base::reserve(8 * kMiB, 4096);
              if (memory != nullptr)
                return std::uint64_t{2};
              return said(nopal::base::why_refused(8 * kMiB), "ulimit -l");
            }),
            1u);
}

#endif

TEST(limits, locked_memory_is_known) {
  void* const page = nopal::base::map_zeroed(nopal::base::page_size());
  EXPECT_FALSE(nopal::base::is_locked(page));
  // Sanitizers put a function that does nothing in the place of mlock.
  if (!on_valgrind() && syscall(SYS_mlock, page, nopal::base::page_size()) == 0) {
    EXPECT_TRUE(nopal::base::is_locked(page));
    EXPECT_TRUE(nopal::base::discard(page, nopal::base::page_size()));
  }
}

} // namespace
} // namespace nopal_test
