// SPDX-License-Identifier: MIT
// Work that is submitted from anywhere, its results, what follows them, and coroutines that await
// them.
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber_group.h"
#include "nopal/loop.h"
#include "nopal/semaphore.h"
#include "nopal/submit.h"
#include "tests/api/alone.h"
#include "tests/api/support.h"

#include <coroutine>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

TEST(submit, gives_what_the_function_returns) {
  EXPECT_EQ(nopal::submit([] { return 3; }).get(), 3);
  EXPECT_EQ(nopal::submit([](int a, const std::string& b) { return b + std::to_string(a); }, 4,
                          std::string("x"))
                .get(),
            "x4");
  nopal::submit([] {}).get();
  EXPECT_EQ(
      *nopal::submit([own = std::make_unique<int>(5)]() mutable { return std::move(own); }).get(),
      5);
}

TEST(submit, throws_what_the_function_throws) {
  auto fails = nopal::submit([]() -> int { throw std::runtime_error("meant"); });
  EXPECT_THROW(fails.get(), std::runtime_error);
}

TEST(submit, lets_the_function_fork_and_wait) {
  nopal::semaphore done{0};
  auto waits = nopal::submit([&] {
    done.acquire();
    return fib(10);
  });
  EXPECT_FALSE(waits.is_ready());
  auto goes_on = nopal::submit([&] {
    done.release();
    return fib(11);
  });
  EXPECT_EQ(waits.get(), 55);
  EXPECT_EQ(goes_on.get(), 89);
}

// More than there are workers, so that those that wait keep no other from beginning.
TEST(submit, lets_functions_wait_for_later_ones) {
  const int n = repetitions(300, 50);
  nopal::channel<int> chain;
  std::vector<nopal::future<int>> waiting;
  for (int i = 0; i < n; ++i)
    waiting.push_back(nopal::submit([&] { return chain.recv(); }));
  nopal::submit([&] {
    for (int i = 0; i < n; ++i)
      chain.send(i);
  }).get();
  int sum = 0;
  for (const int each : nopal::when_all(std::move(waiting)).get())
    sum += each;
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

TEST(submit, gives_references) {
  int place = 3;
  nopal::submit([&]() -> int& { return place; }).then([](int& at) { at = 4; }).get();
  EXPECT_EQ(place, 4);
  EXPECT_EQ(&nopal::submit([](int& at) -> int& { return at; }, std::ref(place)).get(), &place);
}

TEST(submit, destroys_the_function_before_the_result_comes) {
  for (int round = 0; round < repetitions(300, 30); ++round) {
    const auto held = std::make_shared<int>(1);
    nopal::submit([held] { return *held; }).get();
    ASSERT_EQ(held.use_count(), 1);
  }
}

TEST(submit, many_from_several_threads) {
  const int n = repetitions(2000, 200);
  std::atomic<long> sum{0};
  const auto submit_all = [&] {
    std::vector<nopal::future<void>> all;
    for (int i = 0; i < n; ++i)
      all.push_back(nopal::submit([&sum, i] { sum += i; }));
    for (nopal::future<void>& each : all)
      each.get();
  };
  std::thread other{submit_all};
  submit_all();
  other.join();
  EXPECT_EQ(sum, 2L * n * (n - 1) / 2);
}

TEST(submit, in_strands_and_fibers) {
  std::atomic<int> sum{0};
  nopal::for_index(0, 100, [&](int i) { sum += nopal::submit([i] { return i; }).get(); }, 1);
  EXPECT_EQ(sum, 4950);
  nopal::run([&] {
    nopal::spawn(
        [&] { sum += nopal::submit([] { return nopal::submit([] { return 50; }).get(); }).get(); });
  });
  EXPECT_EQ(sum, 5000);
}

TEST(submit, what_is_forgotten_runs_all_the_same) {
  gate ran;
  static_cast<void>(nopal::submit([&] { ran.open(); }));
  ran.wait();
}

TEST(submit, begins_anew_where_nothing_was_left) {
  for (int round = 0; round < 50; ++round)
    ASSERT_EQ(nopal::submit(fib, 8).get(), 21);
}

TEST(then, follows_with_the_value) {
  auto text = nopal::submit([] {
                return 3;
              }).then([](int x) {
                  return std::make_unique<int>(x + 1);
                }).then([](std::unique_ptr<int> x) { return std::to_string(*x); });
  EXPECT_EQ(text.get(), "4");
  auto later = nopal::submit([] {});
  later.wait();
  EXPECT_EQ(std::move(later).then([] { return 5; }).get(), 5) << "the result has come before";
}

TEST(then, is_passed_by_an_exception) {
  bool called = false;
  auto fails = nopal::submit([]() -> int {
                 throw std::runtime_error("meant");
               }).then([&](int) {
                   called = true;
                 }).then([] { return 1; });
  EXPECT_THROW(fails.get(), std::runtime_error);
  EXPECT_FALSE(called);
}

TEST(then, of_a_long_chain_does_not_nest) {
  auto all = nopal::submit([] { return 0; });
  for (int i = 0; i < 10000; ++i)
    all = std::move(all).then([](int x) { return x + 1; });
  EXPECT_EQ(all.get(), 10000);
  auto fails = nopal::submit([]() -> int { throw 7; });
  for (int i = 0; i < 10000; ++i)
    fails = std::move(fails).then([](int x) { return x + 1; });
  EXPECT_THROW(fails.get(), int);
}

TEST(when_all, has_all_results) {
  auto [a, nothing, b] = nopal::when_all(nopal::submit([] { return 1; }), nopal::submit([] {}),
                                         nopal::submit([] { return std::make_unique<int>(2); }))
                             .get();
  static_assert(std::is_same_v<decltype(nothing), std::monostate>);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(*b, 2);
  std::vector<nopal::future<int>> many;
  for (int i = 0; i < 500; ++i)
    many.push_back(nopal::submit([i] { return i; }));
  const std::vector<int> values = nopal::when_all(std::move(many)).get();
  ASSERT_EQ(values.size(), 500u);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(nopal::when_all(std::vector<nopal::future<int>>{}).get().empty());
}

TEST(when_all, waits_for_all_and_throws_the_first_exception_of_the_list) {
  std::atomic<bool> ended{false};
  auto all = nopal::when_all(nopal::submit([&] {
                               fib(12);
                               ended = true;
                             }),
                             nopal::submit([] { throw 1; }), nopal::submit([] { throw 2; }));
  try {
    all.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const int thrown) {
    EXPECT_EQ(thrown, 1);
  }
  EXPECT_TRUE(ended);
}

// A coroutine that begins at once and whose result a thread waits for.
template <class T> struct promised {
  struct promise_type {
    std::promise<T> given;
    promised get_return_object() {
      return {given.get_future(), std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(T value) { given.set_value(std::move(value)); }
    void unhandled_exception() { given.set_exception(std::current_exception()); }
  };
  T get() { return result.get(); }
  std::future<T> result;
  std::coroutine_handle<promise_type> frame;
};

promised<long> sum_of_two() {
  const long x = co_await nopal::submit(fib, 15);
  const long y = co_await nopal::submit([](int n) { return fib(n); }, 12);
  co_return x + y + fib(10); // what goes on may fork
}

TEST(coroutine, awaits_forks) {
  std::vector<promised<long>> begun;
  for (int i = 0; i < repetitions(100, 5); ++i)
    begun.push_back(sum_of_two());
  for (promised<long>& each : begun)
    EXPECT_EQ(each.get(), 610 + 144 + 55);
}

promised<bool> changes_threads(pid_t caller) {
  const bool before = thread_id() == caller && !nopal::vproc::on_strand();
  co_await nopal::submit([] {});
  const bool waited = thread_id() != caller && nopal::vproc::on_strand();
  co_return before&& waited;
}
promised<bool> awaits_what_has_come(nopal::future<void> come) {
  come.wait();
  co_await std::move(come);
  co_return nopal::vproc::on_strand();
}

TEST(coroutine, goes_on_in_a_fiber_where_a_thread_has_begun_it) {
  EXPECT_TRUE(changes_threads(thread_id()).get());
  EXPECT_TRUE(awaits_what_has_come(nopal::submit([] {})).get());
}

promised<bool> stays(nopal::future<int> come) {
  const pid_t here = thread_id();
  const int value = co_await std::move(come);
  co_return value == 3 && thread_id() == here;
}

TEST(coroutine, goes_on_where_it_is_in_a_fiber_if_it_need_not_wait) {
  nopal::run([] {
    auto come = nopal::submit([] { return 3; });
    come.wait();
    EXPECT_TRUE(stays(std::move(come)).get());
  });
}

promised<int> awaits_a_channel(nopal::channel<int>& from) {
  co_return co_await nopal::submit([&] { return from.recv(); });
}

TEST(coroutine, that_a_fiber_has_begun_lets_the_fiber_go_on) {
  nopal::run([] {
    nopal::channel<int> there;
    auto waits = awaits_a_channel(there);
    there.send(17); // the coroutine has returned to its caller
    EXPECT_EQ(waits.get(), 17);
  });
}

promised<std::string> catches() {
  std::string seen;
  try {
    co_await nopal::submit([]() -> int { throw std::runtime_error{"thrown"}; });
  } catch (const std::runtime_error& caught) {
    seen = caught.what();
  }
  co_await nopal::submit([&] { seen += ", and on"; });
  co_return seen;
}

TEST(coroutine, catches_what_the_function_throws) { EXPECT_EQ(catches().get(), "thrown, and on"); }

promised<int> results() {
  int place = 3;
  int& refers = co_await nopal::submit([&]() -> int& { return place; });
  refers = 4;
  std::unique_ptr<int> owned = co_await nopal::submit([](std::unique_ptr<int> one) { return one; },
                                                      std::make_unique<int>(5));
  const std::string text =
      co_await nopal::when_all(nopal::submit([] { return 6; }), nopal::submit([] {}))
          .then([](auto both) { return std::to_string(std::get<0>(both)); });
  co_return place * 100 + *owned * 10 + std::stoi(text);
}

TEST(coroutine, gets_references_and_what_only_moves) { EXPECT_EQ(results().get(), 456); }

promised<int> long_loop(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i)
    sum += co_await nopal::submit([i] { return i % 3; });
  co_return sum;
}

// Each resumption is a turn of its own, so no stack grows.
TEST(coroutine, awaits_often) {
  const int rounds = repetitions(30000, 300);
  EXPECT_EQ(long_loop(rounds).get(), rounds);
}

promised<bool> does_not_await(nopal::future<void> never) {
  co_await std::move(never);
  co_return true;
}

TEST(coroutine, may_be_destroyed_while_it_waits) {
  nopal::semaphore permits{0};
  std::atomic<bool> ended{false};
  auto waits = does_not_await(nopal::submit([&] {
    permits.acquire();
    ended = true;
  }));
  waits.frame.destroy();
  EXPECT_THROW(waits.get(), std::future_error);
  permits.release();
  while (!ended) // the function runs on
    std::this_thread::yield();
}

promised<bool> is_cancelled_where_it_waits() {
  try {
    co_await nopal::submit([] {});
  } catch (const nopal::cancelled&) {
    co_return true;
  }
  co_return false;
}

TEST(coroutine, of_a_cancelled_fiber_does_not_wait) {
  nopal::run([] {
    nopal::fiber_group all;
    all.spawn([&all] {
      all.cancel();
      EXPECT_TRUE(is_cancelled_where_it_waits().get());
    });
    all.join();
  });
}

using future_death = death;
TEST_F(future_death, what_a_function_throws_that_may_not_ends_the_program) {
  EXPECT_DEATH(
      {
        static_cast<void>(nopal::submit([]() noexcept {
          std::rethrow_exception(std::make_exception_ptr(std::runtime_error{"lost"}));
        }));
        std::promise<void>{}.get_future().wait();
      },
      "lost");
}

TEST_F(future_death, a_coroutine_that_is_to_go_on_is_not_destroyed) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 1, .tick = 0}); // one thread, which nobody relieves
        gate first;
        gate behind;
        gate never;
        auto waits = does_not_await(nopal::submit([&] { first.wait(); }));
        static_cast<void>(nopal::submit([&] {
          behind.open();
          never.wait();
        }));
        first.open();
        behind.wait(); // the coroutine stands in the queue
        waits.frame.destroy();
      },
      testing::ExitedWithCode(70), "^nopal: a coroutine was destroyed in which co_await had");
}
TEST_F(future_death, gives_its_result_once) {
  EXPECT_EXIT(
      {
        auto once = nopal::submit([] { return 1; });
        once.get();
        once.get();
      },
      testing::ExitedWithCode(70),
      "^nopal: a nopal::future was used that has no result: it was moved from, or has given its "
      "result by get, then or co_await\n$");
}

} // namespace
} // namespace nopal_test
