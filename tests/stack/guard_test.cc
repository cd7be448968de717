// SPDX-License-Identifier: MIT
// What lies around a stack: its guard, its mappings, and no huge pages.
#include "nopal/base/os.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

namespace nopal_test {
namespace {

namespace stack = nopal::stack;
using stack::stack_id;

constexpr std::size_t kBytes = std::size_t{256} << 10;

std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);)
    ++count;
  return count;
}

void open() { stack::open(kBytes, std::size_t{64} << 20); }

TEST(guards, need_two_mappings_for_each_stack) {
  const auto added = apart([] {
    open();
    const std::size_t before = mappings();
    for (int i = 0; i < 1000; ++i)
      stack::acquire();
    return mappings() - before;
  });
  ASSERT_TRUE(added.has_value());
  EXPECT_GE(*added, 1900u);
  EXPECT_LE(*added, 2002u);
}

// However many strands are suspended, the program can still map memory.
TEST(guards, leave_half_of_the_mappings_to_the_program) {
  const auto most = apart([] {
    open();
    return stack::capacity();
  });
  ASSERT_TRUE(most.has_value());
  EXPECT_LE(2 * *most, nopal::base::max_mappings() / 2);
  const std::size_t many = on_valgrind() ? 500 : 10000;
  EXPECT_GE(*most, std::min(many, nopal::base::max_mappings() / 4));
}

// The number of the signal that ends a process which touches this place.
template <class Place> int ended_by(Place place) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); // sanitizers have handlers
    open();
    *reinterpret_cast<volatile char*>(place(stack::acquire())) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Frames that leap far, too.
TEST(guards, end_who_goes_too_deep) {
  for (const std::size_t below : {1ul, 4096ul, 1ul << 20, 2ul << 20, 40ul << 20})
    EXPECT_EQ(ended_by([=](stack_id of) { return stack::bottom(of) - below; }), SIGSEGV) << below;
  EXPECT_EQ(ended_by([](stack_id of) { return stack::bottom(of); }), 0);
}

// The flags of the mapping in which the address lies, as /proc/self/smaps names them.
std::string flags_of(std::uintptr_t address) {
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2)
      here = address >= low && address < high;
    else if (here && line.starts_with("VmFlags:"))
      return line + " ";
  }
  return {};
}

TEST(stacks, have_no_huge_pages) {
  EXPECT_EQ(apart([] {
              open();
              return flags_of(stack::top(stack::acquire()) - 1).find(" nh ") != std::string::npos;
            }),
            1u);
}

} // namespace
} // namespace nopal_test
