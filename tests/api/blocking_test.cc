// SPDX-License-Identifier: MIT
// nopal::blocking: a spare thread takes the place of a worker that blocks. There are two workers.
#include "nopal/affine.h"
#include "nopal/blocking.h"
#include "nopal/loop.h"
#include "tests/api/meeting.h"
#include "tests/api/support.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace nopal_test {
namespace {

const start this_program{2};

TEST(blocking, more_can_wait_at_a_time_than_there_are_workers) {
  for (int round = 0; round < 20; ++round) {
    meeting all{8};
    std::atomic<int> left{0};
    nopal::for_index(
        0, 8,
        [&](int) {
          nopal::blocking([&all] { all.come(); });
          left += 1;
        },
        1);
    ASSERT_EQ(left, 8);
  }
}

long threads() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/task"},
                       std::filesystem::directory_iterator{});
}

TEST(blocking, spare_threads_are_used_again) {
  const auto meet = [] {
    meeting all{6};
    nopal::for_index(0, 6, [&](int) { nopal::blocking([&all] { all.come(); }); }, 1);
  };
  for (int round = 0; round < 50; ++round)
    meet();
  EXPECT_LE(threads(), 2 + 8 + 1)
      << "two workers, a spare for each of eight blocked threads, and a sanitizer's thread";
}

TEST(blocking, workers_go_on_with_what_was_forked_above) {
  gate continued;
  nopal::scope s;
  s.fork([&] { nopal::blocking([&] { continued.wait(); }); });
  s.fork([&] { nopal::blocking([&] { continued.wait(); }); });
  s.fork([&] { nopal::blocking([&] { continued.wait(); }); });
  EXPECT_EQ(fib(12), 144);
  continued.open();
  s.join();
}

TEST(blocking, returns_and_throws_what_the_function_does) {
  EXPECT_EQ(nopal::blocking([] { return 3; }), 3) << "on a thread that is no worker";
  int x = 0;
  nopal::scope s;
  s.fork([&x] {
    int& same = nopal::blocking([&x]() -> int& { return x; });
    EXPECT_EQ(&same, &x);
    EXPECT_THROW(nopal::blocking([] { throw std::runtime_error("meant"); }), std::runtime_error);
    EXPECT_EQ(nopal::blocking([] { return fib(10); }), 55) << "forks inside";
  });
  s.join();
}

// A spare that is not needed any more rests when it looks for work, but not while it waits for the
// end of its region: nobody would wake it then. Which thread enters the region is chance, so there
// are many rounds.
TEST(blocking, a_spare_in_a_region_is_there_when_that_ends) {
  for (int round = 0; round < 40; ++round) {
    std::atomic<bool> blocked{false};
    std::atomic<bool> release{false};
    std::atomic<bool> returned{false};
    const auto wait_for = [](const std::atomic<bool>& flag) {
      while (!flag)
        std::this_thread::yield();
    };
    const auto region = [&] {
      std::atomic<bool> stolen{false};
      nopal::scope inner;
      inner.fork([&] { wait_for(stolen); });
      stolen = true; // on another thread: the one that entered the region looks for work now
      release = true;
      wait_for(returned);
      for (int i = 0; i < 500; ++i) // one spare, which is needed no more, looks for work
        std::this_thread::yield();
      inner.join();
    };
    nopal::scope s;
    s.fork([&] {
      nopal::blocking([&] {
        blocked = true;
        wait_for(release);
      });
      returned = true;
    });
    wait_for(blocked);
    s.fork([&] { nopal::affine(region); });
    s.join();
  }
}

} // namespace
} // namespace nopal_test
