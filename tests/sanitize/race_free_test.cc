// SPDX-License-Identifier: MIT
// NOPAL_RACES: ThreadSanitizer reports no race where no schedule has one.
#include "tests/api/support.h"
#include "tests/sanitize/programs.h"

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
#include <nopal/scan.h>
#include <nopal/semaphore.h>
#include <nopal/sort.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
namespace {

class race_free : public races {};
TEST_P(race_free, is_not_reported) { expect(0); }

using nopal_test::fib;

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
