// SPDX-License-Identifier: MIT
// Computations whose function throws while its fibers run, wait, or have not begun.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/mutex.h"
#include "nopal/preemption.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <atomic>
#include <mutex>

namespace nopal_test {

struct thrown_by_body {};

// Fibers that would never end, each in a way of its own, and more that do not begin any more.
template <class Run> void throw_beside_fibers(Run run) {
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  nopal::channel<int> silent;
  nopal::mutex held;
  const auto counted = [&](auto f) {
    return [&begun, &ended, f] {
      const counted_end end{ended};
      begun += 1;
      f();
    };
  };
  const auto body = [&] {
    const std::lock_guard guard{held};
    nopal::spawn(counted([&] { silent.recv(); }));
    nopal::spawn(counted([&] { const std::lock_guard never{held}; }));
    nopal::spawn(counted([] {
      for (;;)
        nopal::poll();
    }));
    nopal::spawn(counted([&] { // with an open fork
      nopal::scope s;
      s.fork([&] { silent.recv(); });
      s.join();
    }));
    nopal::spawn(counted([&] { nopal::run([&] { silent.recv(); }); }));
    nopal::spawn(counted([&] {
      nopal::run([&] {
        nopal::spawn([&] { silent.recv(); });
        nopal::spawn([&] { silent.recv(); });
      });
    }));
    while (begun != 6)
      nopal::yield();
    for (int i = 0; i < 5; ++i)
      nopal::spawn(counted([&] { silent.recv(); }));
    throw thrown_by_body{};
  };
  EXPECT_THROW(run(body), thrown_by_body);
  EXPECT_EQ(begun, ended);
  EXPECT_GE(ended, 6);
}

TEST(failed_run, a_function_that_throws_cancels_what_it_spawned) {
  for (int round = 0; round < repetitions(50, 10); ++round)
    throw_beside_fibers([](const auto& body) { nopal::run(body); });
}

TEST(failed_run, a_function_that_throws_cancels_no_other_computation) {
  nopal::channel<int> go;
  std::atomic<int> received{0};
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] { received += go.recv(); });
    nopal::yield();
    for (int round = 0; round < repetitions(20, 5); ++round)
      throw_beside_fibers([](const auto& body) { nopal::run(body); });
    for (int i = 0; i < 3; ++i)
      go.send(1);
  });
  EXPECT_EQ(received, 3);
}

// Nothing else runs in the computation: what the function had spawned has ended.
TEST(failed_run, a_function_may_throw_after_its_fibers) {
  for (int round = 0; round < 100; ++round) {
    nopal::channel<int> end;
    const auto body = [&] {
      nopal::spawn([&] { end.send(1); });
      end.recv();
      throw thrown_by_body{};
    };
    EXPECT_THROW(nopal::run(body), thrown_by_body);
  }
}

} // namespace nopal_test
