// SPDX-License-Identifier: MIT
// A thread that outgrows its own stack, ends, or forks in a signal handler amid a computation ends
// the program with a sentence that names the mistake.
#include "nopal/base/die.h"
#include "tests/api/support.h"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace nopal_test {
namespace {

const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);

class thread_misuse_death : public death {};

volatile long deepest = -1; // so that the compiler cannot know that there is no end

// Only leaves are forked: the recursion itself stays on the stack on which it began.
[[gnu::noinline]] long leaves(long n) {
  if (n == deepest)
    return n;
  nopal::scope s;
  long leaf;
  s.fork(leaf, [](long at) { return at; }, n);
  const long below = leaves(n + 1);
  s.join();
  return leaf + below;
}

const char* const own_stack =
    "^nopal: stack overflow: the recursion needs more than the calling thread's own stack, .* "
    "raise "
    "the limit on it \\(ulimit -s\\), or the size that the thread was created with\n$";

// A sanitizer's handler was installed before Nopal's: it reports the overflow itself.
bool sanitizer_handles_faults() {
  struct sigaction action{};
  sigaction(SIGSEGV, nullptr, &action);
  return action.sa_handler != SIG_DFL;
}

TEST_F(thread_misuse_death, a_recursion_outgrows_the_main_threads_stack) {
  if (sanitizer_handles_faults())
    GTEST_SKIP() << "a sanitizer reports it";
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 1});
        leaves(0);
      },
      died, own_stack);
}

TEST_F(thread_misuse_death, a_recursion_outgrows_the_stack_of_a_thread_of_the_programs) {
  if (sanitizer_handles_faults())
    GTEST_SKIP() << "a sanitizer reports it";
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 1});
        std::thread([] { leaves(0); }).join();
      },
      died, own_stack);
}

// The other worker waits in its child, so no third one takes the recursion to further stacks.
TEST_F(thread_misuse_death, a_recursion_outgrows_the_stack_of_the_thief_that_runs_it) {
  if (sanitizer_handles_faults())
    GTEST_SKIP() << "a sanitizer reports it";
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 2});
        gate stolen;
        gate never;
        nopal::scope s;
        s.fork([&] {
          stolen.wait();
          never.wait();
        });
        stolen.open();
        leaves(0);
        s.join();
      },
      died, "^nopal: stack overflow: the recursion needs more than the [0-9]+ KiB of one stack");
}

const char* const ended =
    "^nopal: (a strand was unwound by something else than a C\\+\\+ exception \\(pthread_exit, |a "
    "thread ended \\(pthread_exit, or it was cancelled\\) while it ran a strand: ).*\n$";

void end_thread() { pthread_exit(nullptr); }

void cancel_thread() {
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

// `end` is called by a child on the program's thread, by the last function of an invoke, and by a
// child on a pool thread.
void in_a_child(void (*end)()) {
  nopal::scope s;
  s.fork(end);
  s.join();
}

void in_an_invoke(void (*end)()) {
  nopal::invoke([] {}, end);
}

void on_a_pool_thread(void (*end)()) {
  gate stolen;
  nopal::scope s;
  s.fork([&stolen] { stolen.wait(); });
  in_a_child(end); // by a thief: the thread that began waits in its child
  stolen.open();
  s.join();
}

TEST_F(thread_misuse_death, a_strand_ends_its_thread) {
#if defined(NOPAL_TSAN)
  GTEST_SKIP() << "ThreadSanitizer itself ends a fiber that calls pthread_exit";
#endif
  for (const auto end : {end_thread, cancel_thread}) {
    EXPECT_EXIT(in_a_child(end), died, ended);
    EXPECT_EXIT(in_an_invoke(end), died, ended);
    EXPECT_EXIT(on_a_pool_thread(end), died, ended);
  }
}

// A strand may call exit() amid a computation.
TEST_F(thread_misuse_death, a_strand_ends_the_process) {
  EXPECT_EXIT(in_a_child([] { std::exit(3); }), testing::ExitedWithCode(3), "^$");
  EXPECT_EXIT(on_a_pool_thread([] { std::exit(3); }), testing::ExitedWithCode(3), "^$");
}

// After its computations a thread may end as it likes.
TEST(thread_misuse, a_thread_ends_itself_afterwards) {
  EXPECT_EQ(apart([] {
              std::thread([] {
                be_stolen();
                pthread_exit(nullptr);
              }).join();
              return 7;
            }),
            7u);
}

// The handler that reports stack overflows lets a signal through that was sent.
TEST_F(thread_misuse_death, a_fault_that_is_sent_ends_the_program) {
  if (sanitizer_handles_faults())
    GTEST_SKIP() << "a sanitizer reports it";
  EXPECT_EXIT(
      {
        be_stolen();
        raise(SIGSEGV);
        std::_Exit(0);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

void fork_in_handler(int) {
  nopal::scope s;
  s.fork([] {});
  s.join();
}

void handle_by_forking(int flags) {
  struct sigaction action{};
  action.sa_handler = fork_in_handler;
  action.sa_flags = flags;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
}

// The calling thread sleeps after its child, until the thief, which runs the continuation, joins.
void interrupt_the_scheduler() {
  handle_by_forking(0);
  const pthread_t caller = pthread_self();
  gate stolen;
  nopal::scope s;
  s.fork([&stolen] { stolen.wait(); });
  const std::uint64_t before = nopal::stats().sleeps;
  stolen.open();
  while (nopal::stats().sleeps == before)
    std::this_thread::yield();
  pthread_kill(caller, SIGUSR1);
  s.join();
}

TEST_F(thread_misuse_death, a_signal_handler_forks_that_interrupted_the_scheduler) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 2});
        interrupt_the_scheduler();
      },
      died, "^nopal: a signal handler forks");
}

TEST_F(thread_misuse_death, a_signal_handler_forks_on_its_own_stack) {
  EXPECT_EXIT(
      {
        nopal::vproc::force_steals(5); // every fork takes the slow path, which notices the mistake
        nopal::scope s;
        s.fork([] {
          constexpr std::size_t bytes = std::size_t{256} << 10;
          const std::unique_ptr<char[]> memory{new char[bytes]};
          const stack_t own{memory.get(), 0, bytes};
          sigaltstack(&own, nullptr);
          handle_by_forking(SA_ONSTACK);
          raise(SIGUSR1);
        });
        s.join();
      },
      died, "^nopal: a fork was made on another stack than its strand's: in a signal handler, or ");
}

#if defined(NOPAL_CHECKS)
TEST_F(thread_misuse_death, a_signal_handler_forks_in_a_check_build) {
  const auto fork_in_a_handler = [] {
    handle_by_forking(0);
    raise(SIGUSR1);
  };
  EXPECT_EXIT(fork_in_a_handler(), died, "^nopal: a signal handler forks");
}
#endif

} // namespace
} // namespace nopal_test
