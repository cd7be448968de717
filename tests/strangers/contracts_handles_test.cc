// SPDX-License-Identifier: MIT
// A task was asked for its result twice: the second was an empty string. One that had been moved
// from ended the program without a word, and so did a case of a select.
#include <nopal/channel.h>
#include <nopal/engine.h>
#include <nopal/fiber_group.h>

#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

constexpr const char* kSecond = "^nopal: a nopal::task was asked for its result a second time";
constexpr const char* kMoved = "^nopal: a nopal::task was used that was moved from";

// In a strand of run, which may be stolen at each fork.
template <class Body> void in_run(Body body, bool forced) {
  if (forced)
    nopal::vproc::force_steals(7);
  nopal::run(body);
}

template <class T, class F> void asks_twice(F f) {
  nopal::task<T> task{f};
  try {
    static_cast<void>(task.get());
  } catch (const std::runtime_error&) {
  }
  task.join(); // these are for ever
  task.cancel();
  EXPECT_TRUE(task.done());
  static_cast<void>(task.get());
}

TEST(contracts_handles, a_task_gives_its_result_once) {
  for (const bool forced : {false, true}) {
    EXPECT_DEATH(
        in_run([] { asks_twice<std::string>([] { return std::string(100, 'x'); }); }, forced),
        kSecond);
    EXPECT_DEATH(in_run([] { asks_twice<int>([] { return 1; }); }, forced), kSecond);
    EXPECT_DEATH(in_run([] { asks_twice<void>([] {}); }, forced), kSecond);
    EXPECT_DEATH(
        in_run([] { asks_twice<int>([]() -> int { throw std::runtime_error{"once"}; }); }, forced),
        kSecond);
  }
  static int place = 0;
  EXPECT_DEATH(in_run([] { asks_twice<int&>([]() -> int& { return place; }); }, false), kSecond);
}

template <class Use> void uses_moved(Use use) {
  nopal::task<int> task{[] { return 1; }};
  nopal::task<int> owner{std::move(task)};
  use(task);
}

TEST(contracts_handles, a_task_that_was_moved_from_is_refused) {
  for (const bool forced : {false, true}) {
    EXPECT_DEATH(in_run([] { uses_moved([](auto& t) { t.get(); }); }, forced), kMoved);
    EXPECT_DEATH(in_run([] { uses_moved([](auto& t) { t.join(); }); }, forced), kMoved);
    EXPECT_DEATH(in_run([] { uses_moved([](auto& t) { t.cancel(); }); }, forced), kMoved);
    EXPECT_DEATH(in_run([] { uses_moved([](auto& t) { static_cast<void>(t.done()); }); }, forced),
                 kMoved);
  }
}

TEST(contracts_handles, an_engine_whose_function_has_ended_is_refused) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::engine<std::string> engine{[] { return std::string(100, 'x'); }};
                 for (int i = 0; i < 2; ++i) {
                   auto result = std::move(engine).run(1u << 20);
                   EXPECT_EQ(std::get<0>(result).size(), 100u);
                 }
               }),
               "^nopal: a nopal::engine was run that had been moved from, or whose function had");
}

TEST(contracts_handles, a_case_that_was_moved_from_is_refused) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::channel<int> values{1};
                 std::vector<nopal::any_case> cases;
                 cases.emplace_back(nopal::recv(values, [](int) {}));
                 const nopal::any_case taken = std::move(cases[0]);
                 nopal::select(cases, nopal::otherwise());
               }),
               "^nopal: nopal::select was given a nopal::any_case that was moved from");
}

// `get` that was interrupted has given nothing.
TEST(contracts_handles, a_task_gives_its_result_after_a_wait_was_cancelled) {
  nopal::run([] {
    nopal::channel<int> values;
    nopal::task<int> later{[&] { return values.recv(); }};
    nopal::task<int> impatient{[&] { return later.get(); }};
    nopal::yield();
    impatient.cancel();
    EXPECT_THROW(impatient.get(), nopal::broken_future);
    values.send(7);
    EXPECT_EQ(later.get(), 7);
  });
}

TEST(contracts_handles, a_task_that_was_moved_from_is_assigned_to) {
  nopal::run([] {
    nopal::task<int> task{[] { return 1; }};
    nopal::task<int> owner{std::move(task)};
    task = nopal::task<int>{[] { return 2; }};
    EXPECT_EQ(owner.get(), 1);
    EXPECT_EQ(task.get(), 2);
  });
}

} // namespace
