// SPDX-License-Identifier: MIT
// Signals and timers that a strand asks for, where its worker is a process: a timer that was to
// call a function in a thread was refused without a word, and what a strand said of the program
// held for its worker alone.
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "tests/api/support.h"
#include "tests/strangers/elsewhere.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

namespace nopal_test {
namespace {

const start this_program{3};

std::atomic<int> heard{0}, called{0};
void hear(int) { ++heard; }
void call(sigval with) { called += with.sival_int; }

void wait_for(const std::atomic<int>& value, int wanted) {
  while (value != wanted)
    std::this_thread::yield();
}

timer_t timer_that(int notifies) {
  sigevent how{};
  how.sigev_notify = notifies;
  how.sigev_signo = SIGUSR1;
  how.sigev_value.sival_int = 5;
  if (notifies == SIGEV_THREAD)
    how.sigev_notify_function = call;
  timer_t made{};
  if (timer_create(CLOCK_MONOTONIC, &how, &made) != 0)
    throw errno;
  return made;
}
void let_expire(timer_t timer) {
  const itimerspec soon{{0, 0}, {0, 100'000}};
  EXPECT_EQ(timer_settime(timer, 0, &soon, nullptr), 0);
}

class mapped_signals : public testing::Test {
protected:
  mapped_signals() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    heard = 0;
    for (const int each : {SIGALRM, SIGUSR1, SIGIO, SIGPIPE})
      std::signal(each, hear);
  }
};

TEST_F(mapped_signals, that_a_strand_sends_or_orders_come_once) {
  elsewhere([] {
    int expected = 0;
    const itimerval soon{{0, 0}, {0, 100}};
    EXPECT_EQ(setitimer(ITIMER_REAL, &soon, nullptr), 0);
    wait_for(heard, ++expected);
    kill(getpid(), SIGUSR1);
    wait_for(heard, ++expected);
    sigqueue(getpid(), SIGUSR1, {});
    wait_for(heard, ++expected);
    std::raise(SIGUSR1);
    EXPECT_EQ(heard, ++expected);
    const timer_t timer = timer_that(SIGEV_SIGNAL);
    let_expire(timer);
    wait_for(heard, ++expected);
    EXPECT_EQ(timer_delete(timer), 0);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    fcntl(ends[0], F_SETOWN, getpid());
    fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    wait_for(heard, ++expected);
    close(ends[0]);
    EXPECT_EQ(write(ends[1], "x", 1), -1);
    EXPECT_EQ(heard, ++expected);
    close(ends[1]);
  });
}

TEST_F(mapped_signals, are_none_where_a_timer_calls_a_function_so_main_makes_the_first) {
  EXPECT_EXIT(elsewhere([] {
                try {
                  timer_that(SIGEV_THREAD);
                } catch (int error) {
                  _exit(on_views() && error == EPERM ? 3 : 4);
                }
                _exit(on_views() ? 5 : 3);
              }),
              testing::ExitedWithCode(3),
              on_views() ? "^nopal: timer_create with SIGEV_THREAD in a worker is refused" : "");
  EXPECT_EXIT(
      {
        timer_delete(timer_that(SIGEV_THREAD));
        elsewhere([] {
          const timer_t timer = timer_that(SIGEV_THREAD);
          let_expire(timer);
          wait_for(called, 5);
          EXPECT_EQ(timer_delete(timer), 0);
        });
        _exit(6);
      },
      testing::ExitedWithCode(6), "^$");
}

// Of the program, not of the worker, which has to end with the others.
TEST_F(mapped_signals, at_the_end_of_a_parent_are_the_programs) {
  elsewhere([] {
    int told = 0, adopts = 0;
    EXPECT_EQ(prctl(PR_GET_PDEATHSIG, &told), 0);
    EXPECT_EQ(told, 0);
    EXPECT_EQ(prctl(PR_SET_PDEATHSIG, SIGUSR1), 0);
    EXPECT_EQ(prctl(PR_GET_PDEATHSIG, &told), 0);
    EXPECT_EQ(told, SIGUSR1);
    EXPECT_EQ(prctl(PR_SET_PDEATHSIG, 0), 0);
    EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    EXPECT_EQ(prctl(PR_GET_CHILD_SUBREAPER, &adopts), 0);
    EXPECT_EQ(adopts, 1);
  });
  int adopts = 0;
  EXPECT_EQ(prctl(PR_GET_CHILD_SUBREAPER, &adopts), 0);
  EXPECT_EQ(adopts, 1);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

} // namespace
} // namespace nopal_test
