// SPDX-License-Identifier: MIT
// What lies around a stack: its guard, its mappings, and no huge pages.
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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
  const std::size_t stacks = on_valgrind() ? 400 : 1000;
  const auto added = apart([=] {
    open();
    const std::size_t before = mappings();
    for (std::size_t i = 0; i < stacks; ++i)
      stack::acquire();
    return mappings() - before;
  });
  ASSERT_TRUE(added.has_value());
  EXPECT_GE(*added, 2 * stacks - stacks / 10);
  EXPECT_LE(*added, 2 * stacks + 10); // a few are of something else
}

// However many strands are suspended, the program can still map memory.
TEST(guards, leave_half_of_the_mappings_to_the_program) {
  const auto most = apart([] {
    open();
    return stack::capacity();
  });
  ASSERT_TRUE(most.has_value());
  EXPECT_LE(2 * *most, nopal::base::max_mappings() / 2);
  const std::size_t many = on_valgrind() ? 500 : 8000; // ThreadSanitizer leaves 8192
  EXPECT_GE(*most, std::min(many, nopal::base::max_mappings() / 4));
}

// Returns the number of the signal that ends a process which touches this place, or 0.
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

// The guard also stops frames that leap far below the stack.
TEST(guards, end_a_process_that_goes_too_deep) {
  for (const std::size_t below : {1ul, 4096ul, 1ul << 20, 2ul << 20, 40ul << 20})
    EXPECT_EQ(ended_by([=](stack_id id) { return stack::bottom(id) - below; }), SIGSEGV) << below;
  EXPECT_EQ(ended_by([](stack_id id) { return stack::bottom(id); }), 0);
}

// The flags of the mapping in which the address lies, as /proc/self/smaps names them.
std::string flags_of(std::uintptr_t address) {
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2)
      inside = address >= low && address < high;
    else if (inside && line.starts_with("VmFlags:"))
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

// All stacks but one are in use, and a reclaimer has that one. A thread that needs a stack waits
// for it.
stack_id held = 0;
std::atomic<stack_id> taken{0};
void take_it_meanwhile(stack::event what, stack_id id, std::uintptr_t) {
  if (what != stack::event::claimed)
    return;
  held = id;
  std::atomic<bool> begun{false};
  static std::thread other;
  other = std::thread([&begun] {
    begun = true;
    taken = stack::acquire();
  });
  while (!begun)
    std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) // usually the other thread has looked for a stack by then
    std::this_thread::yield();
  other.detach();
}

TEST(guards, the_last_stack_may_be_with_a_reclaimer) {
  const auto done = apart([] {
    stack::open(kBytes, kBytes * 3 / 2); // so one stack is above the watermark
    std::vector<stack_id> all(stack::capacity());
    std::ranges::generate(all, stack::acquire);
    std::memset(reinterpret_cast<void*>(stack::bottom(all[0])), 1, kBytes);
    stack::observer.store(take_it_meanwhile, nopal::base::relaxed);
    stack::release(all[0]);
    stack::handoff to_do;
    stack::reclaim(to_do);
    while (held != 0 && taken == 0)
      std::this_thread::yield();
    return held == 0 ? 1 : taken == all[0] ? 2 : 3;
  });
  EXPECT_EQ(done, 2u);
}

} // namespace
} // namespace nopal_test
