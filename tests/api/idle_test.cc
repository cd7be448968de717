// SPDX-License-Identifier: MIT
// Workers without work sleep and are woken; a strand that forks nothing more starves nobody.
#include "tests/api/support.h"
#include "tests/patience.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

constexpr unsigned kWorkers = 4;
const start this_program{kWorkers};

// All threads but this one: the processor time that they have used so far, in ticks, how many there
// are, and how many sleep. A sanitizer may have a thread of its own, which mostly sleeps.
struct others {
  unsigned long ticks = 0;
  unsigned threads = 0;
  unsigned asleep = 0;
  bool operator==(const others&) const = default;
};

others other_threads() {
  others sum;
  const std::string own = std::to_string(syscall(SYS_gettid));
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own)
      continue;
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string state;
    std::string skipped;
    unsigned long user = 0;
    unsigned long system = 0;
    fields >> state;
    for (int i = 4; i < 14; ++i)
      fields >> skipped;
    fields >> user >> system;
    sum.ticks += user + system;
    sum.threads += 1;
    sum.asleep += state == "S" ? 1 : 0;
  }
  return sum;
}

// Waits until all other threads sleep in ten samples in a row and have used no processor time in
// between; false if that does not happen.
bool all_asleep() {
  const auto deadline = std::chrono::steady_clock::now() + nopal_test::patience;
  others before;
  for (int quiet = 0; quiet < 10;) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    usleep(20'000);
    const others now = other_threads();
    const bool quiet_now = now.threads >= kWorkers - 1 && now.asleep == now.threads;
    quiet = now == before && quiet_now ? quiet + 1 : 0;
    before = now;
  }
  return true;
}

TEST(idle, workers_sleep_after_the_work_and_wake_for_more) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(fib(20), 6765);
    be_stolen();
    ASSERT_TRUE(all_asleep());
    const nopal::statistics before = nopal::stats();
    EXPECT_GE(before.sleeps, kWorkers - 1);
    be_stolen();
    const nopal::statistics after = nopal::stats();
    EXPECT_GT(after.wakeups, before.wakeups);
    EXPECT_GT(after.steals, before.steals);
  }
}

// Forks as deep as there are gates. The innermost strand forks nothing more until thieves have run
// every continuation above it.
void starve(std::size_t depth, std::vector<gate>& gates) {
  if (depth == gates.size()) {
    for (const gate& each : gates)
      each.wait();
    return;
  }
  nopal::scope s;
  s.fork([depth, &gates] { starve(depth + 1, gates); });
  gates[depth].open();
  s.join();
}

TEST(starvation, a_strand_that_forks_no_more_is_stolen_from) {
  for (int i = 0; i < 100; ++i) {
    std::vector<gate> gates(1);
    nopal::scope s;
    s.fork([&gates] { starve(0, gates); });
    s.join();
  }
}

TEST(starvation, at_every_level) {
  for (const std::size_t levels : {2u, 7u, 100u})
    for (int i = 0; i < 20; ++i) {
      std::vector<gate> gates(levels);
      starve(0, gates);
    }
}

TEST(starvation, where_all_thieves_sleep) {
  be_stolen();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(all_asleep());
    std::vector<gate> gates(5);
    starve(0, gates);
  }
}

// The strand works until the thieves sleep again beside its private fork; then it starves them.
TEST(starvation, where_thieves_would_sleep_beside_private_forks) {
  be_stolen();
  ASSERT_TRUE(all_asleep());
  std::vector<gate> gates(3);
  nopal::scope s;
  s.fork([&gates] {
    for (int i = 0; i < 1000; ++i)
      fib(5);
    starve(0, gates);
  });
  s.join();
}

// The open forks lie below a large array that nobody has touched.
[[gnu::noinline]] void starve_below_a_large_frame(std::vector<gate>& gates) {
  char untouched[500 << 10];
  asm volatile("" : : "r"(untouched) : "memory");
  starve(0, gates);
  asm volatile("" : : "r"(untouched) : "memory");
}

TEST(starvation, below_a_large_frame) {
  for (int i = 0; i < 20; ++i) {
    std::vector<gate> gates(3);
    nopal::scope s;
    s.fork([&gates] { starve_below_a_large_frame(gates); });
    s.join();
  }
}

// A thread that waits for its group takes strands of that group only, so the pool must take others.
TEST(starvation, of_several_external_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 20; ++k) {
        std::vector<gate> gates(6);
        starve(0, gates);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace
} // namespace nopal_test
