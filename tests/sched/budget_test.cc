// SPDX-License-Identifier: MIT
// The budget under the scheduler: programs compute the same, and a strand whose stack an
// idle worker is about to reclaim resumes all the same, once.
#include "nopal/base/os.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"
#include "tests/sched/random_tree.h"
#include "tools/census.h"

#include <pthread.h>

#include <cstring>
#include <thread>

namespace nopal_test {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;

// The tests run programs in processes of their own. These count pages because this process does.
nopal::options within(std::size_t budget, unsigned workers) {
  census::start();
  return {.num_workers = workers, .stack_size = kStack, .stack_budget = budget};
}

// Enough for one stack and a half, so that idle workers, which leave half of the budget in use,
// always have something to do.
constexpr std::size_t kTight = kStack + kStack / 2;

class budgeted_programs : public testing::TestWithParam<unsigned> {};

TEST_P(budgeted_programs, compute_what_their_elision_computes) {
  for (const std::size_t budget : {std::size_t{0}, kTight, 64 * kStack})
    EXPECT_EQ(first_difference_with(within(budget, GetParam()), false, 7000, 7300, 9), 7300u)
        << budget;
}

TEST_P(budgeted_programs, compute_the_same_under_forced_steals) {
  EXPECT_EQ(first_difference_with(within(kTight, GetParam()), true, 8000, 8040, 6), 8040u);
}

TEST_P(budgeted_programs, never_have_more_dead_pages_than_the_budget) {
  for (const std::size_t budget : {std::size_t{0}, kTight, 64 * kStack}) {
    const auto most_dead = apart([budget] {
      nopal::configure(within(budget, GetParam()));
      nopal::vproc::force_steals(GetParam());
      return first_difference(9000, 9030, 6) == 9030 ? census::dead.most() : ~0ul;
    });
    ASSERT_TRUE(most_dead.has_value());
    EXPECT_LE(*most_dead * 4096, budget);
  }
}

INSTANTIATE_TEST_SUITE_P(workers, budgeted_programs, testing::Values(1u, 2u, 5u, 16u, 64u),
                         testing::PrintToStringParamName());

// A strand whose first child ends while the main path runs elsewhere: its stack is suspended, full
// of dead pages, and an idle worker finds it. That worker waits, after its claim, until the main
// path has come to the join.
struct stopped {
  static inline std::atomic<int> claims{0};
  static inline std::atomic<bool> at_the_join{false};

  static void wait_for_the_resumer(nopal::stack::event what, nopal::stack::stack_id id,
                                   std::uintptr_t frames) {
    census::see(what, id, frames);
    if (what != nopal::stack::event::claimed)
      return;
    claims.fetch_add(1);
    // Not for ever: if all idle workers were here, nobody would steal the main path.
    for (int i = 0; i < 20000 && !at_the_join.load(); ++i)
      std::this_thread::yield();
    for (int i = 0; i < 200; ++i) // so that the main path passes the join, mostly
      std::this_thread::yield();
  }
};

[[gnu::noinline]] long touch_deeply() {
  char deep[30 << 10];
  std::memset(deep, 7, sizeof deep);
  asm volatile("" : : "r"(deep) : "memory");
  return deep[12345];
}

long suspended_while_reclaimed() {
  gate stolen;
  long deep = 0;
  long local = 41;
  stopped::at_the_join.store(false);
  const int claims = stopped::claims.load();
  nopal::scope s;
  s.fork([&] {
    stolen.wait();
    deep = touch_deeply();
  });
  stolen.open();
  // Idle workers may all be busy with other stacks, and this one may have been charged nothing.
  for (int i = 0; i < 20000 && stopped::claims.load() == claims; ++i)
    std::this_thread::yield();
  stopped::at_the_join.store(true);
  s.join();
  local += touch_deeply() == 7 ? 1 : 0;
  return deep == 7 ? local : 0;
}

std::uint64_t handoffs() {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < nopal::vproc::vprocs_ever(); ++i)
    sum += nopal::vproc::vproc_at(i)->count.handoffs.get();
  return sum;
}

TEST(a_worker_stopped_before_its_advice, goes_on_with_the_strand) {
  EXPECT_EQ(apart([] {
              // The dead pages of one stack are more than a half of this, so that idle workers
              // claim it.
              nopal::configure({.num_workers = 4, .stack_size = kStack, .stack_budget = kTight});
              nopal::stack::observer.store(stopped::wait_for_the_resumer);
              long wrong = 0;
              int rounds = 0;
              do {
                nopal::scope s;
                long result = 0;
                s.fork(result, suspended_while_reclaimed);
                s.join();
                wrong += result == 42 ? 0 : 1;
              } while (++rounds < 1000 && handoffs() < 20);
              return wrong == 0 && handoffs() >= 20 ? 0 : 1;
            }),
            0u);
}

// A chain whose every frame is stolen, and whose every child has ended: as many suspended stacks.
struct suspended_chain {
  static constexpr int levels = 2000;
  static inline std::atomic<int> ended{0};

  static int descend(int level) {
    if (level == 0) {
      while (ended.load() != levels)
        std::this_thread::yield();
      return 0;
    }
    gate stolen;
    nopal::scope s;
    s.fork([&stolen] {
      stolen.wait();
      ended.fetch_add(1);
    });
    stolen.open();
    const int below = descend(level - 1);
    s.join();
    return below + 1;
  }
};

TEST(thousands_of_suspended_stacks, stay_within_the_budget) {
  const auto most_dead = apart([]() -> std::uint64_t {
    nopal::configure(within(kTight, 3));
    if (suspended_chain::descend(suspended_chain::levels) != suspended_chain::levels)
      return ~0ul;
    const nopal::statistics all = nopal::stats();
    return all.stacks >= suspended_chain::levels - 1 && all.page_counts > 1000 ? census::dead.most()
                                                                               : ~0ul;
  });
  ASSERT_TRUE(most_dead.has_value());
  EXPECT_LE(*most_dead * 4096, kTight);
}

// Nothing on a stack that is not ours is given back, however little the budget: what lies below
// its frames, and how many of its pages have memory, stays.
struct foreign_stack {
  static constexpr std::size_t bytes = std::size_t{4} << 20;
  static constexpr std::size_t marked = bytes / 2; // the lower half, which no frame reaches

  static void* forks_on_it(void*) {
    for (int i = 0; i < 50; ++i)
      be_stolen();
    return fib(15) == 610 ? nullptr : reinterpret_cast<void*>(1);
  }
};

TEST(a_foreign_stack, keeps_its_pages) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 4, .stack_budget = 0});
              nopal::vproc::force_steals(1);
              auto* const memory =
                  static_cast<unsigned char*>(nopal::base::map_zeroed(foreign_stack::bytes));
              std::memset(memory, 0xab, foreign_stack::bytes);
              pthread_attr_t attributes;
              pthread_attr_init(&attributes);
              pthread_attr_setstack(&attributes, memory, foreign_stack::bytes);
              pthread_t thread;
              void* failed = nullptr;
              if (pthread_create(&thread, &attributes, foreign_stack::forks_on_it, nullptr) != 0 ||
                  pthread_join(thread, &failed) != 0 || failed != nullptr)
                return 1;
              for (std::size_t i = 0; i < foreign_stack::marked; ++i)
                if (memory[i] != 0xab)
                  return 2;
              const std::size_t pages = nopal::base::resident_pages(memory, foreign_stack::bytes);
              return pages * 4096 == foreign_stack::bytes ? 0 : 3;
            }),
            0u);
}

} // namespace
} // namespace nopal_test
