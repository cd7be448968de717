// SPDX-License-Identifier: MIT
// NOPAL_RACES: ThreadSanitizer reports the races of all schedules, whatever the schedule of the
// run, and no others. Each program runs in a process of its own, in the serial order (one virtual
// worker) and in the orders of some seeds.
#include <nopal/accumulate.h>
#include <nopal/affine.h>
#include <nopal/arena.h>
#include <nopal/channel.h>
#include <nopal/fiber.h>
#include <nopal/fork.h>
#include <nopal/loop.h>
#include <nopal/mutex.h>
#include <nopal/per_worker.h>
#include <nopal/preemption.h>
#include <nopal/reducer.h>
#include <nopal/runtime.h>
#include <nopal/scan.h>
#include <nopal/semaphore.h>
#include <nopal/sort.h>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kReported = 66;

// Not _exit, with which ThreadSanitizer would wait for further reports.
[[noreturn]] void leave(int status) {
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

} // namespace

// To find the lines of a report takes a third of a second, and nobody reads it.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "symbolize=0"; }

// ThreadSanitizer calls this behind each report, and holds its locks meanwhile.
extern "C" void __tsan_on_report(void* report);
extern "C" void __tsan_on_report(void*) { leave(kReported); }

namespace {

// Accesses that the compiler must leave where they are.
[[gnu::noinline]] void increment(int& number) {
  number = number + 1;
  asm volatile("" ::: "memory");
}

int outcome_of(bool (*program)(), unsigned workers, std::uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) {
    nopal::configure({.virtual_workers = workers, .races = true, .seed = seed});
    leave(program() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct program {
  const char* name;
  bool (*run)();
};
#define NAMED(name)                                                                                \
  program { #name, name }
void PrintTo(const program& shown, std::ostream* to) { *to << shown.name; }

class races : public testing::TestWithParam<program> {
protected:
  static void expect(int outcome) {
    for (std::uint64_t seed = 0; seed <= 3; ++seed) // 0: in the serial order
      EXPECT_EQ(outcome_of(GetParam().run, seed == 0 ? 1 : 4, seed), outcome) << "seed " << seed;
  }
};

class racy : public races {};
class race_free : public races {};

std::string name_of(const testing::TestParamInfo<program>& tested) { return tested.param.name; }

TEST_P(racy, is_reported) { expect(kReported); }
TEST_P(race_free, is_not_reported) { expect(0); }

bool siblings() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { increment(number); });
  s.fork([&] { increment(number); });
  s.join();
  return number == 2;
}

bool child_and_continuation() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { increment(number); });
  increment(number);
  s.join();
  return number == 2;
}

[[gnu::noinline]] void in_a_grandchild(int& number) {
  nopal::scope s;
  s.fork([&number] { increment(number); });
  s.join();
}

// The inner scope is joined, the outer one is not.
bool across_nested_scopes() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { in_a_grandchild(number); });
  in_a_grandchild(number);
  s.join();
  return number == 2;
}

// Many forks lie between the two accesses, and take many of the tool's fibers.
void tree(int depth, std::vector<int>& leaves, std::size_t at) {
  if (depth == 0)
    return increment(leaves[at]);
  nopal::scope s;
  s.fork([&, depth, at] { tree(depth - 1, leaves, 2 * at); });
  tree(depth - 1, leaves, 2 * at + 1);
  s.join();
}

bool below_many_forks() {
  std::vector<int> leaves(64);
  int number = 0;
  nopal::scope s;
  s.fork([&] {
    increment(number);
    tree(6, leaves, 0);
  });
  tree(4, leaves, 0); // the same leaves, too
  s.join();
  return number == 1;
}

bool behind_an_earlier_join() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { increment(number); });
  s.join();
  s.fork([&] { increment(number); });
  increment(number);
  s.join();
  return number == 3;
}

bool neighbours_in_a_loop() {
  std::vector<int> all(300);
  nopal::for_index(0, 299, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    all[at] = i;
    all[at + 1] = i;
  });
  return true;
}

bool shared_accumulator() {
  int number = 0;
  const int sum = nopal::reduce(0, 100, 0, std::plus<>{}, [&](int i) {
    increment(number);
    return i;
  });
  return sum == 4950;
}

[[gnu::noinline]] void through_a_pointer(int* at) { increment(*at); }

bool in_the_parents_frame() {
  int number = 0;
  std::vector<int*> elsewhere{&number};
  nopal::scope s;
  s.fork([&elsewhere] { through_a_pointer(elsewhere[0]); });
  through_a_pointer(elsewhere[0]);
  s.join();
  return number == 2;
}

bool fiber_beside_a_fork() {
  int number = 0;
  nopal::run([&] {
    nopal::spawn([&] { increment(number); });
    nopal::scope s;
    s.fork([&] { increment(number); });
    s.join();
  });
  return number == 2;
}

INSTANTIATE_TEST_SUITE_P(programs, racy,
                         testing::Values(NAMED(siblings), NAMED(child_and_continuation),
                                         NAMED(across_nested_scopes), NAMED(below_many_forks),
                                         NAMED(behind_an_earlier_join), NAMED(neighbours_in_a_loop),
                                         NAMED(shared_accumulator), NAMED(in_the_parents_frame),
                                         NAMED(fiber_beside_a_fork)),
                         name_of);

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

bool joined_before_use() {
  int number = 0;
  nopal::scope s;
  for (int i = 0; i < 300; ++i) {
    s.fork([&] { increment(number); });
    s.join();
    increment(number);
  }
  return number == 600 && fib(13) == 233;
}

// Frames of children and of what the continuation calls lie at the same addresses.
[[gnu::noinline]] int with_arrays(int n) {
  volatile int large[5000];
  for (int i = 0; i < 5000; i += 7)
    large[i] = n;
  const auto deeper = [n](auto self, int depth) -> int {
    volatile int small[40];
    small[n % 40] = n;
    return depth == 0 ? small[n % 40] : self(self, depth - 1) + small[n % 40];
  };
  return large[7] + deeper(deeper, n % 11);
}

bool frames_at_the_same_place() {
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
    int results[12] = {};
    nopal::scope s;
    for (int i = 0; i < 12; ++i) {
      const std::string text(static_cast<std::size_t>(50 + i), 'x');
      s.fork([&results, i, text] { results[i] = with_arrays(i) + static_cast<int>(text.size()); });
      if (with_arrays(i + 1) <= 0)
        return false;
    }
    s.join();
    sum += std::accumulate(std::begin(results), std::end(results), 0);
  }
  return sum > 0;
}

bool values_of_workers() {
  nopal::per_worker<std::vector<int>> buffers;
  nopal::for_index(0, 300, [&](int i) { buffers.local().push_back(i); });
  std::size_t all = 0;
  for (const std::vector<int>& each : buffers)
    all += each.size();
  return all == 300;
}

bool reducers() {
  nopal::reducer<nopal::appending<std::string>> text;
  nopal::reducer<nopal::adding<int>> sum;
  nopal::for_index(0, 300, [&](int i) {
    *text += 'x';
    *sum += i;
  });
  return text.value() == std::string(300, 'x') && sum.value() == 44850;
}

bool accumulated() {
  const auto all = nopal::accumulate(
      0, 300, [] { return std::vector<int>{}; },
      [](std::vector<int>& some, int i) { some.push_back(i); },
      [](std::vector<int>& low, std::vector<int>&& high) {
        low.insert(low.end(), high.begin(), high.end());
      });
  return all.size() == 300 && std::is_sorted(all.begin(), all.end());
}

bool under_mutexes() {
  std::atomic<int> unordered{0};
  int number = 0;
  int other = 0;
  nopal::mutex mutex;
  std::mutex threads;
  nopal::for_index(0, 100, [&](int) {
    unordered.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard guard{mutex};
      increment(number);
    }
    const std::lock_guard guard{threads};
    increment(other);
  });
  return unordered == 100 && number == 100 && other == 100;
}

// With several workers the strands wait, and are woken, where the polls let them.
bool woken() {
  int rounds = 0;
  for (int i = 0; i < 20; ++i) {
    nopal::semaphore permits{0};
    nopal::mutex mutex;
    nopal::condition_variable changed;
    bool ready = false;
    int handed = 0;
    nopal::scope s;
    s.fork([&] {
      for (int turn = 0; turn < 5; ++turn)
        nopal::poll();
      increment(handed);
      permits.release();
      const std::lock_guard guard{mutex};
      ready = true;
      changed.notify_one();
    });
    permits.acquire();
    increment(handed);
    {
      std::unique_lock guard{mutex};
      changed.wait(guard, [&] { return ready; });
    }
    s.join();
    rounds += handed == 2;
  }
  return rounds == 20;
}

bool algorithms() {
  std::vector<int> all(3000);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<int>((i * 7919) % 3001);
  nopal::sort(all);
  std::vector<int> sums(all.size());
  nopal::inclusive_scan(all, sums.begin());
  const int sum = nopal::reduce(std::size_t{0}, all.size(), 0, std::plus<>{},
                                [&](std::size_t i) { return all[i]; });
  return std::is_sorted(all.begin(), all.end()) && sums.back() == sum;
}

bool fibers_and_channels() {
  int number = 0;
  int total = 0;
  std::vector<int> handed(20);
  nopal::channel<int> plain;
  nopal::channel<int> buffered{4};
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 20; ++i) {
        handed[static_cast<std::size_t>(i)] = i;
        plain.send(i);
      }
      plain.close();
    });
    nopal::spawn([&] {
      for (const int each : plain) {
        increment(handed[static_cast<std::size_t>(each)]);
        buffered.send(each);
      }
      buffered.close();
    });
    for (const int each : buffered)
      total += handed[static_cast<std::size_t>(each)];
    increment(number);
  });
  increment(number);
  return number == 2 && total == 210;
}

bool exceptions() {
  int caught = 0;
  for (int i = 0; i < 20; ++i)
    try {
      nopal::scope s;
      s.fork([i] {
        with_arrays(i);
        throw std::runtime_error("number " + std::to_string(i));
      });
      s.fork([i] { with_arrays(i + 3); });
      with_arrays(2);
      s.join();
    } catch (const std::runtime_error& error) {
      caught += error.what() == "number " + std::to_string(i);
    }
  return caught == 20;
}

bool regions() {
  const auto sum = [] {
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, 7);
    const long y = nopal::affine([] { return fib(6); });
    s.join();
    return x + y;
  };
  return sum() == 21 && nopal::arena{2}.run(sum) == 21 && nopal::affine(sum) == 21;
}

bool two_threads() {
  long results[2] = {};
  std::thread other{[&] { results[0] = fib(9); }};
  results[1] = fib(9);
  other.join();
  return results[0] == 34 && results[1] == 34;
}

INSTANTIATE_TEST_SUITE_P(programs, race_free,
                         testing::Values(NAMED(joined_before_use), NAMED(frames_at_the_same_place),
                                         NAMED(values_of_workers), NAMED(reducers),
                                         NAMED(accumulated), NAMED(under_mutexes), NAMED(woken),
                                         NAMED(algorithms), NAMED(fibers_and_channels),
                                         NAMED(exceptions), NAMED(regions), NAMED(two_threads)),
                         name_of);

} // namespace
