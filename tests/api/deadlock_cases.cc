// SPDX-License-Identifier: MIT
// Programs in which no strand can go on, which end with what each waits for; and programs that look
// like these and go on. Each program that includes this has another number of workers.
#include "nopal/base/limits.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/fiber_group.h"
#include "nopal/future.h"
#include "nopal/io.h"
#include "nopal/mutex.h"
#include "nopal/sched/deadlock.h"
#include "nopal/semaphore.h"
#include "nopal/sleep.h"
#include "tests/api/support.h"

#include <chrono>
#include <csignal>
#include <mutex>
#include <string>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <thread>

namespace nopal_test {
namespace {

using namespace std::chrono_literals;
using nopal::sched::deadlock_looks;

const auto found_dead = testing::ExitedWithCode(70);
const std::string one_strand = "^nopal: 1 strand waits ";
const std::string at = " at 0x[0-9a-f]+\n";
const std::string dead =
    "nopal: deadlock: no strand can go on, and no thread, time, signal handler or descriptor is "
    "left that could wake one; what each waits for is told above\n$";

// A tool that has a thread of its own, or handles signals, leaves it open whether that will wake a
// strand.
class deadlock_death : public death {
protected:
  void SetUp() override {
    death::SetUp();
#if defined(NOPAL_TSAN)
    GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
#endif
    if (nopal::base::handles_signals())
      GTEST_SKIP() << "the process handles signals";
  }
};

TEST_F(deadlock_death, two_mutexes) {
  EXPECT_EXIT(nopal::run([] {
                nopal::mutex first;
                nopal::mutex second;
                nopal::channel<int> locked;
                nopal::task other{[&] {
                  second.lock();
                  locked.send(1);
                  first.lock();
                }};
                first.lock();
                locked.recv();
                second.lock();
              }),
              found_dead,
              one_strand + "for the nopal::mutex" + at + one_strand.substr(1) +
                  "for the nopal::mutex" + at + dead);
}

TEST_F(deadlock_death, a_channel_that_nobody_sends_to) {
  EXPECT_EXIT(nopal::run([] {
                nopal::channel<int> empty;
                empty.recv();
              }),
              found_dead, one_strand + "to receive from the nopal::channel" + at + dead);
}

TEST_F(deadlock_death, a_task_that_waits_for_its_owner) {
  EXPECT_EXIT(nopal::run([] {
                nopal::ivar<int> owner_is_done;
                nopal::task task{[&] { return owner_is_done.get(); }};
                task.join();
                owner_is_done.set(1);
              }),
              found_dead,
              one_strand + "for the value of the nopal::ivar or nopal::future1" + at +
                  one_strand.substr(1) +
                  "for the end of the fibers of the nopal::cancelable, fiber_group or task" + at +
                  dead);
}

TEST_F(deadlock_death, many_wait_for_one) {
  EXPECT_EXIT(nopal::run([] {
                nopal::semaphore none{0};
                nopal::channel<int> never;
                nopal::channel<int> also_never;
                for (int i = 0; i < 100; ++i)
                  nopal::spawn([&] { none.acquire(); });
                nopal::select(nopal::recv(never, [](int) {}), nopal::send(also_never, 1));
              }),
              found_dead,
              "^nopal: 100 strands wait for a permit of the nopal::semaphore" + at +
                  one_strand.substr(1) + "for one of several channels \\(nopal::select\\)\n" +
                  dead);
}

TEST_F(deadlock_death, after_a_timer_was_taken_back_and_a_thread_has_ended) {
  EXPECT_EXIT(
      {
        nopal::ivar<int> never;
        nopal::run([&] {
          nopal::mutex free;
          free.try_lock_for(1h);
          nopal::semaphore none{0};
          EXPECT_FALSE(none.try_acquire_for(1ms));
          nopal::channel<int> in_an_hour{1};
          nopal::spawn([&] { in_an_hour.send(1); });
          nopal::select(nopal::recv(in_an_hour, [](int) {}), nopal::timeout(1h));
          std::thread{[] {}}.join();
          never.get();
        });
      },
      found_dead, one_strand + "for the value of the nopal::ivar or nopal::future1" + at + dead);
}

TEST_F(deadlock_death, a_thread_outside_that_waits_for_a_strand) {
  EXPECT_EXIT(
      {
        nopal::ivar<int> never;
        std::thread outside{[&] { never.get(); }};
        nopal::run([&] { never.get(); });
        outside.join();
      },
      found_dead,
      "nopal: 1 thread outside waits for the value of the nopal::ivar or nopal::future1" + at +
          dead);
}

TEST_F(deadlock_death, a_spawner_that_is_kept) {
  EXPECT_EXIT(
      {
        std::optional<nopal::spawner> kept;
        nopal::run([&] { kept.emplace(); });
      },
      found_dead,
      "^nopal: no strand waits for an object\n"
      "nopal: deadlock: .* or a nopal::spawner was not destroyed\n$");
}

// Until it was looked at again and again whether anything can go on.
bool looked_enough(std::uint64_t since) { return deadlock_looks() >= since + 3; }

TEST(no_deadlock, where_a_thread_of_the_program_sends) {
  nopal::channel<int> values;
  std::thread sender{[&, since = deadlock_looks()] {
    while (!looked_enough(since))
      std::this_thread::yield();
    values.send(7);
  }};
  EXPECT_EQ(nopal::run([&] { return values.recv(); }), 7);
  sender.join();
}

TEST(no_deadlock, where_a_strand_sleeps) {
  const std::uint64_t since = deadlock_looks();
  nopal::run([&] {
    nopal::channel<int> values;
    nopal::spawn([&] {
      while (!looked_enough(since))
        nopal::sleep_for(100ms);
      values.send(7);
    });
    EXPECT_EQ(values.recv(), 7);
  });
}

TEST(no_deadlock, where_a_wait_has_an_end) {
  const std::uint64_t since = deadlock_looks();
  nopal::run([&] {
    nopal::semaphore none{0};
    while (!looked_enough(since))
      EXPECT_FALSE(none.try_acquire_for(100ms));
  });
}

TEST(no_deadlock, where_a_strand_waits_for_a_descriptor) {
  const std::uint64_t since = deadlock_looks();
  nopal::run([&] {
    nopal::io::descriptor timer{timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    while (!looked_enough(since)) {
      const itimerspec once{{}, {0, 100'000'000}};
      ASSERT_EQ(timerfd_settime(timer.get(), 0, &once, nullptr), 0);
      EXPECT_TRUE(nopal::io::wait_readable(timer.get()));
      std::uint64_t times = 0;
      EXPECT_EQ(read(timer.get(), &times, sizeof times), static_cast<ssize_t>(sizeof times));
    }
  });
}

// The strand never goes on. The handler ends the program when it was looked at often enough.
void wait_beside_a_handler() {
  std::signal(SIGALRM, [](int) {
    if (looked_enough(0))
      _exit(7);
  });
  const itimerval often{{0, 10'000}, {0, 10'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  nopal::run([] {
    nopal::ivar<int> never;
    never.get();
  });
}

TEST_F(deadlock_death, is_none_where_a_signal_handler_may_wake_a_strand) {
  EXPECT_EXIT(wait_beside_a_handler(), testing::ExitedWithCode(7), "^$");
}

// It tells of strands that wait while others run, and of waits with an end.
TEST(report, tells_what_strands_wait_for) {
  nopal::run([] {
    nopal::ivar<void> end;
    nopal::mutex held;
    const std::lock_guard guard{held};
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] { end.get(); });
    nopal::cancelable until_then;
    nopal::spawn(until_then, [&] { held.try_lock_for(1h); });
    nopal::spawn(until_then, [&] { nopal::sleep_for(1h); });
    const auto is_reported = [&](const std::string& line) {
      testing::internal::CaptureStderr();
      nopal::report_waiting();
      return testing::internal::GetCapturedStderr().find("nopal: " + line) != std::string::npos;
    };
    char ivar[32];
    char mutex[32];
    std::snprintf(ivar, sizeof ivar, "%p", static_cast<void*>(&end));
    std::snprintf(mutex, sizeof mutex, "%p", static_cast<void*>(&held));
    while (!is_reported("3 strands wait for the value of the nopal::ivar or nopal::future1 at " +
                        std::string{ivar} + "\n"))
      nopal::yield();
    while (!is_reported("1 strand waits for the nopal::mutex at " + std::string{mutex} + "\n"))
      nopal::yield();
    while (!is_reported("1 strand waits for a time (nopal::sleep_until)\n"))
      nopal::yield();
    end.set();
    until_then.cancel();
  });
}

} // namespace
} // namespace nopal_test
