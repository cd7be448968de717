// SPDX-License-Identifier: MIT
// Engines: how much runs for how much fuel, alone and nested.
#include "nopal/channel.h"
#include "nopal/engine.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <atomic>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace nopal_test {
namespace {

// Spends a unit before each of these steps.
int steps(int number, long& passed) {
  for (int i = 0; i < number; ++i) {
    nopal::poll();
    ++passed;
  }
  return number;
}

template <class T> nopal::engine<T>* unfinished(std::variant<T, nopal::engine<T>>& ran) {
  return std::get_if<nopal::engine<T>>(&ran);
}

TEST(engine, goes_on_until_its_fuel_ends) {
  nopal::run([] {
    long passed = 0;
    auto ran = nopal::engine{steps, 10, std::ref(passed)}.run(4);
    ASSERT_NE(unfinished(ran), nullptr);
    EXPECT_EQ(passed, 4);
    ran = std::move(*unfinished(ran)).run(5);
    ASSERT_NE(unfinished(ran), nullptr);
    EXPECT_EQ(passed, 9);
    ran = std::move(*unfinished(ran)).run(1);
    EXPECT_EQ(std::get<int>(ran), 10) << "the last unit is enough";
  });
}

TEST(engine, begins_when_it_has_fuel) {
  nopal::run([] {
    bool begun = false;
    nopal::engine waits{[&] { begun = true; }};
    for (int i = 0; i < 100; ++i)
      nopal::yield();
    EXPECT_FALSE(begun);
    EXPECT_EQ(std::move(waits).run(1).index(), 0u);
    EXPECT_TRUE(begun);
  });
}

TEST(engine, pays_for_a_yield) {
  nopal::run([] {
    int turns = 0;
    auto ran = nopal::engine{[&] {
                 for (;;) {
                   nopal::yield();
                   ++turns;
                 }
               }}.run(7);
    EXPECT_EQ(ran.index(), 1u);
    EXPECT_EQ(turns, 6) << "after the last one it does not go on";
  });
}

TEST(engine, pays_nothing_under_a_mask) {
  nopal::run([] {
    long passed = 0;
    auto ran = nopal::engine{[&] {
                 const nopal::no_preemption whole;
                 return steps(1000, passed);
               }}.run(1);
    EXPECT_EQ(std::get<int>(ran), 1000);
  });
}

TEST(engine, runs_what_it_forks_and_spawns) {
  nopal::run([] {
    nopal::engine all{[] {
      nopal::channel<long> results;
      nopal::spawn([&] { results.send(fib(10)); });
      const long own = fib(11);
      return own + results.recv();
    }};
    int runs = 1;
    auto ran = std::move(all).run(20);
    for (; unfinished(ran) != nullptr; ++runs)
      ran = std::move(*unfinished(ran)).run(20);
    EXPECT_EQ(std::get<long>(ran), 89 + 55);
    EXPECT_EQ(runs, (143 + 88 + 19) / 20) << "as many forks as the recursions have";
  });
}

// The page of docs/scheduling.md: round robin among engines.
TEST(engine, makes_a_round_robin) {
  nopal::run([] {
    std::string ran;
    std::deque<nopal::engine<void>> all;
    for (const char name : {'a', 'b', 'c'})
      all.emplace_back([&ran, name] {
        for (int i = 0; i < 4; ++i) {
          nopal::poll();
          ran += name;
        }
      });
    while (!all.empty()) {
      auto result = std::move(all.front()).run(2);
      all.pop_front();
      if (auto* const goes_on = std::get_if<nopal::engine<void>>(&result))
        all.push_back(std::move(*goes_on));
    }
    EXPECT_EQ(ran, "aabbccaabbcc");
  });
}

TEST(engine, makes_proportional_shares) {
  nopal::run([] {
    long used[2] = {};
    const auto endless = [&used](int which) {
      for (;;) {
        nopal::poll();
        ++used[which];
      }
    };
    nopal::engine large{endless, 0};
    nopal::engine small{endless, 1};
    for (int turn = 0; turn < 20; ++turn) {
      auto after_large = std::move(large).run(30);
      large = std::get<nopal::engine<void>>(std::move(after_large));
      auto after_small = std::move(small).run(10);
      small = std::get<nopal::engine<void>>(std::move(after_small));
    }
    EXPECT_EQ(used[0], 600);
    EXPECT_EQ(used[1], 200);
  });
}

// The outer one makes its own steps between the turns of an inner one.
struct nested_steps {
  long inner = 0;
  long outer = 0;

  int run(int turns, int in_each) {
    nopal::engine within{[this] { return steps(1 << 20, inner); }};
    for (int i = 0; i < turns; ++i) {
      auto ran = std::move(within).run(static_cast<std::uint64_t>(in_each));
      within = std::get<nopal::engine<int>>(std::move(ran));
      steps(1, outer);
    }
    return turns;
  }
};

TEST(engine, takes_the_fuel_of_an_inner_one_from_the_outer_one) {
  nopal::run([] {
    nested_steps counts;
    nopal::engine around{[&] { return counts.run(10, 6); }};
    // Seven units a turn: six of the inner engine's, and one.
    std::uint64_t given = 0;
    auto ran = std::move(around).run(1);
    for (given = 1; unfinished(ran) != nullptr; given += 4) {
      EXPECT_EQ(counts.inner + counts.outer, static_cast<long>(given));
      EXPECT_EQ(counts.outer, static_cast<long>(given) / 7);
      ran = std::move(*unfinished(ran)).run(4);
    }
    EXPECT_EQ(std::get<int>(ran), 10);
    EXPECT_EQ(counts.inner, 60);
    EXPECT_EQ(counts.outer, 10);
  });
}

TEST(engine, takes_it_from_all_around) {
  nopal::run([] {
    long passed = 0;
    const auto innermost = [&] { return steps(50, passed); };
    const auto middle = [&] { return nopal::engine{innermost}.run(1000).index(); };
    auto ran = nopal::engine{middle}.run(30);
    EXPECT_EQ(ran.index(), 1u);
    EXPECT_EQ(passed, 30);
    ran = std::move(std::get<1>(ran)).run(20);
    EXPECT_EQ(passed, 50);
    ASSERT_EQ(ran.index(), 1u) << "the one in the middle is to go on, and has no fuel";
    ran = std::move(std::get<1>(ran)).run(1);
    EXPECT_EQ(std::get<0>(ran), 0u);
  });
}

TEST(engine, pays_for_computations_within) {
  nopal::run([] {
    long passed = 0;
    auto ran = nopal::engine{[&] {
                 nopal::round_robin order;
                 nopal::run(order, [&] { nopal::spawn([&] { steps(9, passed); }); });
                 nopal::run([&] { steps(9, passed); });
               }}.run(14);
    EXPECT_EQ(ran.index(), 1u);
    EXPECT_EQ(passed, 14);
    EXPECT_EQ(std::move(std::get<1>(ran)).run(5).index(), 0u);
    EXPECT_EQ(passed, 18);
  });
}

TEST(engine, throws_what_its_function_throws) {
  nopal::run([] {
    nopal::engine fails{[]() -> int {
      nopal::poll();
      throw std::runtime_error("empty");
    }};
    EXPECT_THROW(static_cast<void>(std::move(fails).run(2)), std::runtime_error);
  });
}

TEST(engine, is_cancelled_where_it_is_destroyed) {
  bool left = false;
  nopal::run([&] {
    auto ran = nopal::engine{[&] {
                 struct note {
                   bool* set;
                   ~note() { *set = true; }
                 } const at_end{&left};
                 for (;;)
                   nopal::poll();
               }}.run(5);
    EXPECT_EQ(ran.index(), 1u);
    EXPECT_FALSE(left);
  });
  EXPECT_TRUE(left);
}

TEST(engine, that_is_cancelled_from_outside_ends) {
  nopal::run([&] {
    nopal::task runs{[] {
      for (;;) {
        auto ran = nopal::engine{[] {
                     for (;;)
                       nopal::poll();
                   }}.run(100);
        static_cast<void>(ran);
      }
    }};
    nopal::yield();
    runs.cancel();
    runs.join();
  });
}

TEST(engine, waits_without_fuel) {
  nopal::run([] {
    nopal::channel<int> values;
    nopal::spawn([&] { values.send(5); });
    auto ran = nopal::engine{[&] { return values.recv(); }}.run(1);
    EXPECT_EQ(std::get<int>(ran), 5);
  });
}

TEST(engine_death, is_run_without_fuel) {
  EXPECT_DEATH(nopal::run([] { static_cast<void>(nopal::engine{[] {}}.run(0)); }), "without fuel");
}

TEST(engine_death, is_run_after_it_was_moved_from) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::engine first{[] {}};
                 nopal::engine second{std::move(first)};
                 static_cast<void>(std::move(first).run(1)); // NOLINT
               }),
               "moved from");
}

TEST(engine_death, is_made_outside_run) {
  EXPECT_DEATH(nopal::engine{[] {}}, "made or run outside nopal::run");
}

TEST(engine_death, is_run_in_another_computation) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::engine outside{[] {}};
                 nopal::run([&] { static_cast<void>(std::move(outside).run(1)); });
               }),
               "outside the nopal::run in which it was made");
}

} // namespace
} // namespace nopal_test
