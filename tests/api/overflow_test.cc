// SPDX-License-Identifier: MIT
// A frame that leaps far below its stack ends the program with a sentence, and touches nobody's
// memory: on a fiber's stack, on one of a strand, and on a thief's.
#include "nopal/base/die.h"
#include "nopal/fiber.h"
#include "nopal/scheduler.h"
#include "tests/api/support.h"
#include "tests/stack/limited.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>

namespace nopal_test {
namespace {

constexpr std::size_t kKiB = 1024;

class overflow_death : public death {};

const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);
const char* const of_fiber =
    "^nopal: stack overflow: a spawned fiber needs more than the 256 KiB of its stack; raise "
    "NOPAL_FIBER_STACK_SIZE \\(now 256K\\)";
const char* const of_strand = "^nopal: stack overflow: the recursion needs more than the 1024 KiB "
                              "of one stack; raise NOPAL_STACK_SIZE \\(now 1024K\\)";

// Calls itself `depth` times; each call touches the lowest end of its frame alone.
template <std::size_t Bytes> [[gnu::noinline]] int leap(int depth) {
  char frame[Bytes];
  asm volatile("" : : "r"(frame) : "memory");
  std::memset(frame, 0xee, 64);
  asm volatile("" : : "r"(frame) : "memory");
  return depth == 0 ? 0 : leap<Bytes>(depth - 1) + frame[1];
}

// One of 12 fibers calls `deep`. The others wait on the stacks below and above, and end the program
// if their own was overwritten.
template <class Deep> void among_others(Deep deep) {
  nopal::configure({.num_workers = 1});
  bool done = false;
  nopal::run([deep, &done] {
    for (int i = 0; i < 12; ++i)
      nopal::spawn([i, deep, &done] {
        int own[1000];
        std::fill(std::begin(own), std::end(own), i);
        asm volatile("" : : "r"(own) : "memory");
        nopal::yield();
        if (i == 6) {
          deep();
          done = true;
        }
        while (!done)
          nopal::yield();
        for (const int& each : own)
          if (const_cast<const volatile int&>(each) != i)
            std::_Exit(3);
      });
  });
  std::_Exit(4);
}

// At most 512 KiB: what half of a stack allows a function that forks.
constexpr std::size_t kLargest = 511 * kKiB;

TEST_F(overflow_death, a_fiber_with_a_frame_larger_than_its_stack) {
  EXPECT_EXIT(among_others([] { leap<300 * kKiB>(0); }), died, of_fiber);
  EXPECT_EXIT(among_others([] { leap<kLargest>(0); }), died, of_fiber);
}

// Functions that fork have frames of at most 32 KiB then; other frames may be as large as ever.
TEST_F(overflow_death, a_fiber_where_stacks_are_small) {
  EXPECT_EXIT(
      {
        setenv("NOPAL_STACK_SIZE", "64K", 1);
        among_others([] { leap<kLargest>(0); });
      },
      died, of_fiber);
}

TEST_F(overflow_death, a_fiber_with_several_frames) {
  EXPECT_EXIT(among_others([] { leap<64 * kKiB>(4); }), died, of_fiber);
  EXPECT_EXIT(among_others([] { leap<100 * kKiB>(2); }), died, of_fiber);
}

TEST_F(overflow_death, a_fiber_where_the_kernel_has_no_guard_regions) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind knows no guard regions";
  if (on_views())
    GTEST_SKIP() << "then shared memory has no guards: docs/limits.md";
  EXPECT_EXIT(
      {
        forbid_guard_regions();
        among_others([] { leap<kLargest>(0); });
      },
      died, of_fiber);
}

TEST_F(overflow_death, a_child_of_a_fiber) {
  EXPECT_EXIT(among_others([] {
                nopal::scope s;
                s.fork([] { leap<kLargest>(0); });
                s.join();
              }),
              died, of_fiber);
}

// Deep enough that the last frame leaps from the lowest part of the stack.
[[gnu::noinline]] int deep_then_leap(int levels) {
  char frame[16 * kKiB];
  asm volatile("" : : "r"(frame) : "memory");
  frame[0] = 1;
  return (levels == 0 ? leap<kLargest>(0) : deep_then_leap(levels - 1)) + frame[0];
}

TEST_F(overflow_death, a_strand) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 1});
        nopal::scope s;
        s.fork([] { deep_then_leap(62); });
        s.join();
      },
      died, of_strand);
}

// By the signal, or in the words of AddressSanitizer.
bool died_by_fault(int status) {
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) == 1;
}

// The program's own mistake, whose address happens to lie in a guard.
TEST_F(overflow_death, is_not_said_of_an_address_far_below_the_stack_pointer) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind knows no guard regions";
  if (on_views())
    GTEST_SKIP() << "other strands' stacks lie there";
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 1});
        nopal::scope s;
        s.fork([] {
          const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
          static_cast<void>(*const_cast<const volatile char*>(here - 4 * kKiB * kKiB));
        });
        s.join();
      },
      died_by_fault, "");
}

// As a conservative collector does.
void scan(const char* from, const char* to) {
  for (; from < to; from += sizeof(void*))
    static_cast<void>(*const_cast<const volatile char*>(from));
}
const char* here() { return static_cast<const char*>(__builtin_frame_address(0)); }

// From the stack pointer to the upper end of the thread's own stack.
[[gnu::noinline]] void scan_own_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  scan(here(), static_cast<const char*>(low) + bytes);
}

TEST_F(overflow_death, is_not_said_of_a_scan_that_ends_where_a_threads_stack_ends) {
  if (on_valgrind())
    GTEST_SKIP() << "Valgrind knows no guard regions";
  if (on_views())
    GTEST_SKIP() << "other strands' stacks lie there";
  const auto in_strand = [] {
    nopal::configure({.num_workers = 1});
    nopal::scope s;
    s.fork([] { scan_own_stack(); });
    s.join();
    std::_Exit(4);
  };
  const auto in_fiber = [] {
    nopal::configure({.num_workers = 1});
    nopal::run([] { nopal::spawn([] { scan_own_stack(); }); });
    std::_Exit(4);
  };
  const auto of_another_threads_strand = [] {
    nopal::configure({.num_workers = 1});
    nopal::scope s;
    s.fork([] {
      const char* const from = here();
      std::thread([from] { scan(from, from + 64 * kKiB * kKiB); }).join();
    });
    s.join();
    std::_Exit(4);
  };
  EXPECT_EXIT(in_strand(), died_by_fault, "");
  EXPECT_EXIT(in_fiber(), died_by_fault, "");
  EXPECT_EXIT(of_another_threads_strand(), died_by_fault, "");
}

TEST_F(overflow_death, a_strand_that_was_stolen) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 2});
        nopal::scope s;
        s.fork([] {
          be_stolen();
          gate again;
          nopal::scope inner;
          inner.fork([&again] { again.wait(); });
          again.open();
          deep_then_leap(62); // on the thief's stack
          inner.join();
        });
        s.join();
      },
      died, of_strand);
}

// A scheduler whose `take` runs on a thread's own stack, and overflows that of a pool thread.
class deep_choice : public nopal::scheduler {
public:
  using scheduler::scheduler;

private:
  void put(nopal::fiber ready) override { ready_.push_back(std::move(ready)); }
  nopal::fiber take() override {
    if (thread_id() != getpid())
      leap<300 * kKiB>(0);
    if (ready_.empty())
      return {};
    nopal::fiber next = std::move(ready_.front());
    ready_.pop_front();
    return next;
  }
  std::deque<nopal::fiber> ready_;
};

TEST_F(overflow_death, a_scheduler_of_the_program_on_a_thread_of_the_pool) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 2});
        deep_choice order{2u};
        nopal::run(order, [] {
          for (;;)
            nopal::yield();
        });
      },
      died, "^nopal: stack overflow: what runs as no strand");
}

} // namespace
} // namespace nopal_test
