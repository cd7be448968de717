// SPDX-License-Identifier: MIT
// Work that nobody waits for, and coroutines that await forks.
#include "nopal/background.h"
#include "nopal/channel.h"
#include "nopal/sched/ancestry.h"
#include "tests/api/support.h"

#include <coroutine>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

// A coroutine that begins at once and whose result a thread waits for.
template <class T> struct promised {
  struct promise_type {
    std::promise<T> given;
    promised get_return_object() { return {given.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(T value) { given.set_value(std::move(value)); }
    void unhandled_exception() { given.set_exception(std::current_exception()); }
  };
  std::future<T> result;
  T get() { return result.get(); }
};

TEST(background, runs_what_is_submitted) {
  constexpr int count = 200;
  std::atomic<int> sum{0};
  {
    const nopal::background workers;
    for (int i = 0; i < count; ++i)
      workers.submit([&sum, i] { sum += static_cast<int>(fib(i % 9)); });
    workers.submit([](std::atomic<int>& to, int add) { to += add; }, std::ref(sum), 1000);
  }
  int expected = 1000;
  for (int i = 0; i < count; ++i)
    expected += static_cast<int>(fib(i % 9));
  EXPECT_EQ(sum, expected);
}

TEST(background, its_functions_wait_for_each_other) {
  nopal::channel<int> there{1};
  std::promise<int> done;
  const nopal::background workers;
  workers.submit([&] { done.set_value(there.recv()); });
  workers.submit([&] { there.send(17); });
  EXPECT_EQ(done.get_future().get(), 17);
}

TEST(background, is_used_by_strands_and_by_threads_at_a_time) {
  std::atomic<int> calls{0};
  {
    const nopal::background workers;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round)
          workers.submit([&] { ++calls; });
      });
    nopal::invoke([&] { workers.submit([&] { ++calls; }); },
                  [&] { workers.submit([&] { ++calls; }); });
    for (std::thread& each : threads)
      each.join();
  }
  EXPECT_EQ(calls, 152);
}

TEST(background, ends_without_work) {
  for (int round = 0; round < 5; ++round)
    const nopal::background workers;
}

promised<long> sum_of_two(const nopal::background& workers) {
  const long x = co_await workers.call(fib, 15);
  const long y = co_await workers.call([](int n) { return fib(n); }, 12);
  co_return x + y + fib(10); // what goes on may fork
}

TEST(coroutine, awaits_forks) {
  const nopal::background workers;
  std::vector<promised<long>> begun;
  for (int i = 0; i < repetitions(100, 5); ++i)
    begun.push_back(sum_of_two(workers));
  for (promised<long>& each : begun)
    EXPECT_EQ(each.get(), 610 + 144 + 55);
}

promised<bool> changes_threads(const nopal::background& workers, pid_t caller) {
  const bool before = thread_id() == caller && !nopal::vproc::on_strand();
  pid_t worker = 0;
  co_await workers.call([&] { worker = thread_id(); });
  co_return before&& worker != caller&& thread_id() != caller&& nopal::vproc::on_strand();
}

TEST(coroutine, goes_on_on_a_worker) {
  const nopal::background workers;
  EXPECT_TRUE(changes_threads(workers, thread_id()).get());
}

promised<std::string> catches(const nopal::background& workers) {
  std::string seen;
  try {
    co_await workers.call([]() -> int { throw std::runtime_error{"thrown"}; });
  } catch (const std::runtime_error& caught) {
    seen = caught.what();
  }
  co_await workers.call([&] { seen += ", and on"; });
  co_return seen;
}

TEST(coroutine, catches_what_the_computation_throws) {
  const nopal::background workers;
  EXPECT_EQ(catches(workers).get(), "thrown, and on");
}

promised<int> results(const nopal::background& workers) {
  int place = 3;
  int& refers = co_await workers.call([&]() -> int& { return place; });
  refers = 4;
  std::unique_ptr<int> owned =
      co_await workers.call([](std::unique_ptr<int> one) { return one; }, std::make_unique<int>(5));
  co_return place * 10 + *owned;
}

TEST(coroutine, gets_references_and_what_only_moves) {
  const nopal::background workers;
  EXPECT_EQ(results(workers).get(), 45);
}

promised<int> long_loop(const nopal::background& workers, int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i)
    sum += co_await workers.call([i] { return i % 3; });
  co_return sum;
}

// Each resumption is in a fiber of its own, so no stack grows.
TEST(coroutine, awaits_often) {
  const nopal::background workers;
  const int rounds = repetitions(30000, 300);
  EXPECT_EQ(long_loop(workers, rounds).get(), rounds);
}

using background_death = death;
TEST_F(background_death, what_a_submitted_function_throws_ends_the_program) {
  EXPECT_DEATH(
      {
        const nopal::background workers;
        workers.submit([] { throw std::runtime_error{"lost"}; });
      },
      "lost");
}

} // namespace
} // namespace nopal_test
