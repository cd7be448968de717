// SPDX-License-Identifier: MIT
// Workers that are processes: each sees its strand's ancestors at the same addresses.
#include "nopal/affine.h"
#include "nopal/base/os.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "nopal/mutex.h"
#include "nopal/runtime.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

class view : public testing::Test {
protected:
  void SetUp() override {
    if (!on_views())
      GTEST_SKIP() << "this system does not let memory be shared, and the program has said so";
  }
};

// Each frame of a path from the root; all are read and written by all strands below.
struct ancestor {
  const ancestor* above;
  int depth;
  std::array<unsigned char, 300> local;
  std::atomic<long> visits{0};

  ancestor(const ancestor* parent, int at) : above{parent}, depth{at} {
    local.fill(static_cast<unsigned char>(at));
  }
};

void look_at(const ancestor* frame, std::atomic<int>& wrong) {
  for (; frame != nullptr; frame = frame->above) {
    const auto expected = static_cast<unsigned char>(frame->depth);
    wrong += !std::ranges::all_of(frame->local, [=](unsigned char c) { return c == expected; });
    const_cast<ancestor*>(frame)->visits += 1;
  }
}

void descend(const ancestor* above, int depth, std::atomic<int>& wrong) {
  ancestor own{above, depth};
  look_at(&own, wrong);
  if (depth == 0)
    return;
  {
    nopal::scope s;
    for (int i = 0; i < 2; ++i)
      s.fork([&] { descend(&own, depth - 1, wrong); });
    s.join();
  }
  wrong += own.visits != (2 << depth) - 1; // each node of the tree below has looked once
}

TEST_F(view, pointers_into_each_ancestor_mean_the_same_in_all_processes) {
  std::atomic<int> wrong{0};
  for (int i = 0; i < 20; ++i)
    descend(nullptr, 8, wrong);
  EXPECT_EQ(wrong, 0);
}

TEST_F(view, frames_of_all_workers_lie_in_one_range_of_a_stack_s_size) {
  std::atomic<int> outside{0};
  const auto check = [&outside] {
    const char own = 0;
    outside += !nopal::stack::view::holds(reinterpret_cast<std::uintptr_t>(&own));
  };
  nopal::scope s;
  for (int i = 0; i < 1000; ++i)
    s.fork([&] {
      check();
      nopal::scope inner;
      inner.fork(check);
      inner.fork(check);
      inner.join();
    });
  s.join();
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(nopal::stack::view::where.end - nopal::stack::view::where.low, nopal::stack::size());
}

// The child ends only when the continuation of its fork runs, so that is stolen each time, also
// when nobody forks to be asked.
TEST_F(view, a_frame_is_stolen_as_often_as_it_forks) {
  const long own = syscall(SYS_gettid);
  std::atomic<int> elsewhere{0};
  for (int round = 0; round < 50; ++round) {
    std::array<gate, 3> went_on;
    std::array<int, 64> local{};
    local.fill(round);
    nopal::scope s;
    for (gate& each : went_on) {
      s.fork([&, round] {
        each.wait();
        elsewhere += syscall(SYS_gettid) != own;
        EXPECT_EQ(local[63], round);
      });
      each.open();
    }
    s.join();
  }
  EXPECT_GT(elsewhere, 0) << "children and main paths ran in one process";
}

int throw_below(int depth) {
  if (depth == 0)
    throw std::runtime_error{"from the deepest"};
  nopal::scope s;
  int below = 0;
  s.fork(below, throw_below, depth - 1);
  const std::string local(100, static_cast<char>('a' + depth));
  s.join();
  return below + static_cast<int>(local.size());
}

TEST_F(view, exceptions_pass_through_stolen_frames) {
  for (int i = 0; i < 100; ++i) {
    try {
      throw_below(20);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& caught) {
      EXPECT_STREQ(caught.what(), "from the deepest");
    }
  }
}

// Large and small frames, so that stacks begin at many pages and are used again at others.
long uneven(int depth, unsigned seed) {
  if (depth == 0)
    return 1;
  const auto forks_beside = [&](auto& local) {
    local.fill(static_cast<unsigned char>(seed));
    nopal::scope s;
    long left = 0;
    long right = 0;
    s.fork(left, uneven, depth - 1, seed * 3 + 1);
    right = uneven(depth - 1, seed * 5 + 2);
    s.join();
    const bool kept = std::ranges::all_of(
        local, [=](unsigned char c) { return c == static_cast<unsigned char>(seed); });
    return kept ? left + right : -1'000'000;
  };
  if (seed % 4 == 0) {
    std::array<unsigned char, 9000> large;
    return forks_beside(large);
  }
  std::array<unsigned char, 50> small;
  return forks_beside(small);
}

TEST_F(view, stacks_are_used_again_from_other_pages) {
  for (unsigned seed = 1; seed < 20; ++seed)
    EXPECT_EQ(uneven(9, seed), 512);
}

long deep(int depth) {
  if (depth < 2)
    return 1;
  nopal::scope s;
  long below = 0;
  s.fork(below, deep, depth - 1);
  const long other = 1;
  s.join();
  return below + other;
}

// Whatever stacks have been used for, and wherever they begin: a call for each, and no others.
TEST_F(view, a_change_of_r_stacks_takes_at_most_r_calls) {
  namespace stack = nopal::stack;
  be_stolen();           // stacks are open
  nopal::stop_workers(); // no other process makes calls meanwhile
  const auto others = [] {
    const nopal::statistics all = nopal::stats();
    return all.page_counts + all.unmaps;
  };
  std::array<stack::stack_id, 5> chain;
  const auto show = [&](std::uintptr_t distance) {
    for (std::size_t i = 0; i < chain.size(); ++i)
      stack::view::begin(chain[i], stack::view::where.end - 4096 * (distance + 3 * i),
                         i == 0 ? stack::no_stack : chain[i - 1]);
    const std::uint64_t maps = stack::view::counted().maps;
    stack::view::show(chain.back());
    return stack::view::counted().maps - maps;
  };
  for (stack::stack_id& each : chain)
    each = stack::acquire();
  show(7);
  const std::uint64_t before = others();
  EXPECT_EQ(show(7), 0u);
  for (const std::uintptr_t distance : {5u, 9u, 9u}) {
    for (const stack::stack_id each : chain)
      *reinterpret_cast<char*>(stack::view::top(each) + stack::offset(each) - 1) = 1;
    EXPECT_LE(show(distance), chain.size());
  }
  EXPECT_EQ(others(), before);
  for (const stack::stack_id each : chain)
    stack::release(each);
}

// A stack that begins lower or higher than before takes the pages that it has.
TEST_F(view, a_stack_that_begins_elsewhere_uses_the_same_pages) {
  namespace stack = nopal::stack;
  be_stolen();
  nopal::stop_workers();
  const stack::stack_id own = stack::acquire();
  const auto resident = [own] {
    return nopal::base::resident_pages(reinterpret_cast<void*>(stack::memory_bottom(own)),
                                       stack::size());
  };
  const std::uint64_t returned = nopal::stats().pages_returned;
  std::size_t before = resident();
  for (const std::uintptr_t pages : {101u, 120u, 90u, 90u}) {
    stack::view::begin(own, stack::view::where.end - pages * 4096, stack::no_stack);
    auto* const memory = reinterpret_cast<char*>(stack::view::top(own) + stack::offset(own));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory), stack::memory_top(own));
    for (int i = 1; i <= 5; ++i)
      memory[-i * 8192] = 1;
    if (pages == 101)
      before = resident();
    EXPECT_EQ(resident(), before);
  }
  EXPECT_EQ(nopal::stats().pages_returned, returned);
  stack::release(own);
}

TEST_F(view, chains_may_have_hundreds_of_stacks) {
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(deep(280), 280);
}

// A strand on a view waits, is found and goes on, perhaps in another process.
TEST_F(view, strands_wait_for_a_mutex_and_at_a_channel) {
  nopal::mutex lock;
  long count = 0;
  nopal::scope s;
  for (int i = 0; i < 200; ++i)
    s.fork([&, i] {
      nopal::channel<std::string> through;
      std::string got;
      nopal::scope inner;
      const auto length = static_cast<std::size_t>(i % 40); // short strings lie in themselves
      inner.fork([&, length] { through.send(std::string(length, 'x')); });
      inner.fork([&] { got = through.recv(); });
      inner.join();
      const std::scoped_lock guard{lock};
      count += static_cast<long>(got.size());
    });
  s.join();
  EXPECT_EQ(count, 5 * 39 * 40 / 2);
}

TEST_F(view, fibers_see_the_frames_of_the_caller_of_run) {
  std::atomic<int> wrong{0};
  nopal::scope s;
  for (int i = 0; i < 20; ++i)
    s.fork([&, i] {
      std::array<int, 100> local{};
      nopal::run([&] {
        for (int& each : local)
          nopal::spawn([&each, i] { each = i; });
      });
      wrong += !std::ranges::all_of(local, [i](int each) { return each == i; });
    });
  s.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(view, regions_begin_and_end_on_views) {
  std::atomic<int> wrong{0};
  nopal::scope s;
  for (int i = 0; i < 40; ++i)
    s.fork([&, i] {
      std::array<int, 100> local{};
      const long entered = syscall(SYS_gettid);
      nopal::affine([&] {
        nopal::scope inner;
        for (int& each : local)
          inner.fork([&each, i] { each = i; });
        inner.join();
      });
      wrong += syscall(SYS_gettid) != entered;
      wrong += !std::ranges::all_of(local, [i](int each) { return each == i; });
    });
  s.join();
  EXPECT_EQ(wrong, 0);
}

std::atomic<int> compared{0};
int compare(const void* a, const void* b) {
  nopal::scope s; // the first of them is the program's first fork
  int left = 0;
  int right = 0;
  s.fork(left, [a] { return *static_cast<const int*>(a); });
  s.fork(right, [b] { return *static_cast<const int*>(b); });
  s.join();
  compared += 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

TEST_F(view, the_first_fork_may_be_in_a_callback_of_a_library) {
  std::array<int, 500> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int>(i * 7919 % numbers.size());
  std::qsort(numbers.data(), numbers.size(), sizeof(int), compare);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
  EXPECT_GT(compared, 500);
}

} // namespace
} // namespace nopal_test
