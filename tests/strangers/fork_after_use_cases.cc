// SPDX-License-Identifier: MIT
// A child of fork() of a program that has used Nopal, as prefork servers, Python's multiprocessing
// and R have them: sleeps and deadlines hung there, stop_workers was a SIGSEGV, and now and then
// anything hung where other threads computed.
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "nopal/io.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/per_worker.h"
#include "nopal/reducer.h"
#include "nopal/runtime.h"
#include "nopal/sleep.h"
#include "nopal/sort.h"
#include "nopal/submit.h"
#include "nopal/task_group.h"
#include "tests/strangers/children.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <spawn.h>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// A child that exits knows nothing of what only threads of its parent knew, and LeakSanitizer would
// report all of it.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

namespace {

using namespace std::chrono_literals;
using nopal_test::in_child;

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

// Each returns whether it came out right.
bool forks() { return fib(15) == 610; }
bool loops() {
  std::atomic<long> sum{0};
  nopal::for_index(0, 2000, [&](int i) { sum += i; });
  return sum == 1999000;
}
bool fibers() {
  long sum = 0;
  nopal::run([&] {
    nopal::channel<int> numbers;
    nopal::spawn([&] {
      for (int i = 0; i < 100; ++i)
        numbers.send(i);
      numbers.close();
    });
    for (const int each : numbers)
      sum += each;
  });
  return sum == 4950;
}
bool sleeps() {
  bool slept = false;
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::sleep_for(2ms);
      slept = true;
    });
  });
  return slept;
}
bool deadlines() {
  nopal::cancel_scope s{5ms};
  s.fork([] {
    for (;;)
      nopal::poll();
  });
  return !s.try_join();
}
bool stop_callbacks() {
  std::stop_source source;
  std::atomic<bool> called{false};
  const std::stop_callback note{source.get_token(), [&] { called = true; }};
  nopal::cancel_scope s{source.get_token()};
  s.fork([&] {
    source.request_stop();
    for (;;)
      nopal::poll();
  });
  return !s.try_join() && called;
}
bool blocks() {
  std::atomic<int> done{0};
  nopal::for_index(
      0, 8, [&](int) { nopal::blocking([&] { done += usleep(100) == 0 ? 1 : 0; }); }, 1);
  return done == 8;
}
bool submits() {
  return nopal::submit(fib, 12).then([](long x) { return x + 1; }).get() == 145;
}
bool groups_of_tasks() {
  std::atomic<int> done{0};
  nopal::task_group all;
  for (int i = 0; i < 10; ++i)
    all.add([&] { ++done; });
  all.wait();
  return done == 10;
}
bool threads() {
  long result = 0;
  std::thread{[&] { result = fib(12); }}.join();
  return result == 144;
}
bool stops() {
  nopal::stop_workers();
  const bool right = forks();
  nopal::stop_workers();
  return right && forks();
}
bool sorts() {
  std::vector<int> items(5000);
  for (int i = 0; i < 5000; ++i)
    items[static_cast<std::size_t>(i)] = i * 7919 % 5000;
  nopal::sort(items);
  return std::ranges::is_sorted(items);
}
bool regions() {
  long x = nopal::affine([] { return fib(10); });
  x += nopal::arena{2}.run([] { return fib(10); });
  return x == 110;
}
bool alternatives() {
  const std::optional<int> found =
      nopal::either([] { return std::optional<int>{}; }, [] { return std::optional<int>{7}; });
  return found == 7;
}
bool reduces() {
  nopal::reducer<nopal::appending<std::string>> text;
  nopal::for_index(0, 26, [&](int i) { *text += std::string(1, static_cast<char>('a' + i)); }, 1);
  nopal::per_worker<long> counts;
  nopal::for_index(0, 100, [&](int) { counts.local() += 1; });
  const long count = std::accumulate(counts.begin(), counts.end(), 0L);
  return text.value() == "abcdefghijklmnopqrstuvwxyz" && count == 100;
}
bool cancels() {
  nopal::run([] {
    nopal::cancelable all;
    for (int i = 0; i < 3; ++i)
      nopal::spawn(all, [] { nopal::sleep_for(1h); });
    all.cancel();
  });
  return true;
}
bool locks() {
  nopal::mutex one;
  long sum = 0;
  nopal::for_index(
      0, 200,
      [&](int i) {
        const std::lock_guard guard{one};
        sum += i;
      },
      1);
  return sum == 19900;
}
// A strand that neither forks nor waits gives way, also where there is one worker.
bool preempts() {
  std::atomic<bool> told{false};
  nopal::run([&] {
    nopal::spawn([&] {
      while (!told)
        nopal::poll();
    });
    nopal::spawn([&] { told = true; });
  });
  return true;
}
bool exits() { std::exit(0); }

struct kind {
  const char* name;
  bool (*run)();
};
constexpr kind kinds[] = {{"forks", forks},
                          {"loops", loops},
                          {"fibers", fibers},
                          {"sleeps", sleeps},
                          {"deadlines", deadlines},
                          {"stop_callbacks", stop_callbacks},
                          {"blocks", blocks},
                          {"submits", submits},
                          {"groups_of_tasks", groups_of_tasks},
                          {"threads", threads},
                          {"stops", stops},
                          {"sorts", sorts},
                          {"regions", regions},
                          {"alternatives", alternatives},
                          {"reduces", reduces},
                          {"cancels", cancels},
                          {"locks", locks},
                          {"preempts", preempts},
                          {"exits", exits}};

void PrintTo(const kind& each, std::ostream* out) { *out << each.name; }

// The parent has used all that it has helper threads for, and more.
void use_all() {
  EXPECT_TRUE(forks() && fibers() && sleeps() && deadlines() && blocks() && submits());
}

// Other threads that use Nopal as long as it lives.
class busy {
public:
  busy() {
    for (std::thread& each : threads_)
      each = std::thread{[this] {
        while (!stop_) {
          fib(14);
          fibers();
          reduces();
        }
      }};
  }
  ~busy() {
    stop_ = true;
    for (std::thread& each : threads_)
      each.join();
  }

private:
  std::atomic<bool> stop_{false};
  std::thread threads_[2];
};

class fork_after_use : public testing::TestWithParam<kind> {
protected:
  void SetUp() override { use_all(); }
  static int in_a_child() { return GetParam().run() ? 0 : 1; }
};

constexpr int kTimes = 3;

TEST_P(fork_after_use, where_no_strand_runs) {
  for (int i = 0; i < kTimes; ++i)
    EXPECT_EQ(in_child(in_a_child), 0);
}
TEST_P(fork_after_use, where_other_threads_compute) {
  const busy others;
  for (int i = 0; i < kTimes; ++i)
    EXPECT_EQ(in_child(in_a_child), 0);
}
TEST_P(fork_after_use, in_strand) {
  for (int i = 0; i < kTimes; ++i) {
    nopal::scope s;
    s.fork([] { fib(12); });
    s.fork([] { EXPECT_EQ(in_child(in_a_child), 0); });
    fib(12);
    s.join();
  }
}
TEST_P(fork_after_use, in_a_fiber_and_in_what_is_submitted) {
  nopal::run([] {
    nopal::spawn([] { EXPECT_EQ(in_child(in_a_child), 0); });
    nopal::affine([] { EXPECT_EQ(in_child(in_a_child), 0); });
    nopal::blocking([] { EXPECT_EQ(in_child(in_a_child), 0); });
  });
  nopal::submit([] { EXPECT_EQ(in_child(in_a_child), 0); }).get();
}
TEST_P(fork_after_use, in_a_child_of_a_child_of_a_child) {
  EXPECT_EQ(in_child([] {
              return forks() && in_child([] {
                                  return sleeps() && in_child(in_a_child) == 0 ? 0 : 1;
                                }) == 0
                         ? 0
                         : 1;
            }),
            0);
}
INSTANTIATE_TEST_SUITE_P(Each, fork_after_use, testing::ValuesIn(kinds),
                         [](const auto& of) { return std::string{of.param.name}; });

TEST(forks_in_a_row, each_child_computes) {
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(in_child([] { return forks() ? 0 : 1; }), 0);
}
int descend(int generations) {
  return forks() && (generations == 0 || in_child([=] { return descend(generations - 1); }) == 0)
             ? 0
             : 1;
}
TEST(forks_in_a_row, each_child_has_a_child) { EXPECT_EQ(descend(20), 0); }

TEST(forks_at_once, of_several_threads) {
  use_all();
  std::thread all[4];
  for (std::thread& each : all)
    each = std::thread{[] {
      for (int i = 0; i < 5; ++i) {
        fib(10);
        EXPECT_EQ(in_child([] { return forks() && sleeps() ? 0 : 1; }), 0);
      }
    }};
  for (std::thread& each : all)
    each.join();
}
TEST(forks_at_once, with_a_thread_that_starts_and_stops_the_workers) {
  std::atomic<bool> stop{false};
  std::thread other{[&] {
    while (!stop) {
      fib(5);
      nopal::stop_workers();
    }
  }};
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(in_child([] { return stops() && fibers() ? 0 : 1; }), 0);
  stop = true;
  other.join();
}

TEST(programs_in_their_place, are_as_ever) {
  nopal::scope s;
  s.fork([] {
    EXPECT_EQ(in_child([] { return execl("/bin/sh", "sh", "-c", "exit 3", nullptr); }), 3);
    EXPECT_EQ(WEXITSTATUS(std::system("exit 4")), 4);
    char name[] = "sh";
    char option[] = "-c";
    char command[] = "exit 5";
    char* const arguments[] = {name, option, command, nullptr};
    pid_t made = 0;
    int status = 0;
    EXPECT_EQ(posix_spawn(&made, "/bin/sh", nullptr, nullptr, arguments, nullptr), 0);
    EXPECT_EQ(waitpid(made, &status, 0), made);
    EXPECT_EQ(WEXITSTATUS(status), 5);
  });
  fib(10);
  s.join();
}

TEST(objects_of_the_parent, that_nobody_uses_work_in_the_child) {
  nopal::mutex one;
  nopal::reducer<nopal::adding<long>> sum;
  nopal::per_worker<long> counts;
  nopal::cancelable all;
  nopal::for_index(0, 100, [&](int i) {
    const std::lock_guard guard{one};
    *sum += i;
    counts.local() += 1;
  });
  EXPECT_EQ(in_child([&] {
              nopal::for_index(0, 100, [&](int i) {
                const std::lock_guard guard{one};
                *sum += i;
                counts.local() += 1;
              });
              nopal::run([&] { nopal::spawn(all, [] {}); });
              const long count = std::accumulate(counts.begin(), counts.end(), 0L);
              return sum.value() == 9900 && count == 200 ? 0 : 1;
            }),
            0);
}

} // namespace
