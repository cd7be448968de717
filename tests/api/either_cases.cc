// SPDX-License-Identifier: MIT
// Parallel-or: the answer, what becomes of the others, and endless ones that starve nobody.
#include "nopal/either.h"
#include "nopal/fiber.h"
#include "nopal/preemption.h"
#include "tests/api/endless.h"
#include "tests/api/numbered.h"
#include "tests/api/queens.h"
#include "tests/api/support.h"

#include <functional>
#include <ranges>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

std::optional<int> fails() { return std::nullopt; }

TEST(either, returns_the_value_and_cancels_the_others) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> ended{0};
    const std::optional<int> got = nopal::either([&] { return endless(ended); }, [] { return 5; },
                                                 [&] { return endless(ended); });
    EXPECT_EQ(got, 5);
    EXPECT_LE(ended, 2);
  }
}

TEST(either, returns_nothing_when_all_fail) {
  EXPECT_EQ(nopal::either(fails, fails), std::nullopt);
  EXPECT_EQ(nopal::either(fails), std::nullopt);
}

TEST(either, lets_an_alternative_fail) {
  EXPECT_EQ(nopal::either(fails, [] { return 1; }), 1);
  EXPECT_EQ(nopal::either([] { return 1; }, fails), 1);
  EXPECT_EQ(nopal::either([]() -> int { throw numbered(1); }, [] { return 2; }), 2);
}

TEST(either, throws_the_serially_first_exception_when_all_fail) {
  for (int round = 0; round < 100; ++round) {
    try {
      nopal::either(fails, []() -> int { throw numbered(1); }, []() -> int { throw numbered(2); });
      ADD_FAILURE();
    } catch (const numbered& thrown) {
      EXPECT_EQ(thrown.number(), 1);
    }
  }
}

TEST(either, of_values_that_are_moved) {
  const std::optional<std::string> got = nopal::either([] { return std::optional<std::string>{}; },
                                                       [] { return std::string(100, 'x'); });
  EXPECT_EQ(got, std::string(100, 'x'));
}

TEST(either, nests) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    const auto alternative = [&] {
      begun += 1;
      return endless(ended);
    };
    const auto inner = [&] { return nopal::either(alternative, alternative); };
    EXPECT_EQ(nopal::either(inner, inner, [] { return 3; }), 3);
    EXPECT_EQ(begun, ended);
  }
}

TEST(either, is_cancelled_from_outside) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    std::atomic<int> ended{0};
    std::atomic<bool> answered{false};
    nopal::cancel_scope s;
    s.fork([&] {
      nopal::either(
          [&] {
            running.open();
            return endless(ended);
          },
          fails);
      answered = true;
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(answered);
  }
}

TEST(either, returns_at_once_where_a_scope_owns_the_others) {
  for (int round = 0; round < 100; ++round) {
    gate returned;
    std::atomic<int> stopped{0};
    {
      nopal::cancel_scope losers;
      const std::optional<int> got = nopal::either(
          losers,
          [&] {
            const counted_end end{stopped};
            try {
              for (;;)
                nopal::yield();
            } catch (const nopal::cancelled&) {
              returned.wait(); // it has not stopped when `either` returns
              throw;
            }
            return 1;
          },
          [] { return 2; });
      EXPECT_EQ(got, 2);
      EXPECT_EQ(stopped, 0);
      EXPECT_TRUE(losers.cancelled());
      returned.open();
      static_cast<void>(losers.try_join());
    }
    EXPECT_EQ(stopped, 1);
  }
}

TEST(either, with_a_scope_says_that_all_have_failed) {
  nopal::cancel_scope losers;
  EXPECT_EQ(nopal::either(losers, fails, fails), std::nullopt);
  EXPECT_THROW(nopal::either(losers, []() -> int { throw numbered(1); }, fails), numbered);
  losers.cancel();
  EXPECT_THROW(nopal::either(losers, fails, fails), nopal::cancelled);
}

// A value that can be moved `left` times; the next move throws.
struct moved_rarely {
  explicit moved_rarely(int moves) : left{moves} {}
  moved_rarely(moved_rarely&& from) : left{from.left - 1} {
    if (left < 0)
      throw numbered(left);
  }
  int left;
};

template <class Either> void expect_an_answer_or_a_throw(Either either) {
  int thrown = 0;
  bool answered = false;
  for (int moves = 0; !answered; ++moves)
    try {
      answered = either([moves] { return moved_rarely(moves); }).has_value();
      EXPECT_TRUE(answered);
    } catch (const numbered&) {
      ++thrown;
    }
  EXPECT_GE(thrown, 2);
}

TEST(either, throws_what_keeps_its_answer_from_it) {
  expect_an_answer_or_a_throw([](auto f) { return nopal::either(f); });
  expect_an_answer_or_a_throw([](auto f) {
    nopal::cancel_scope losers;
    return nopal::either(losers, f);
  });
}

// Each of a range's elements is an alternative.
TEST(either_of_a_range, returns_the_value_and_cancels_the_others) {
  for (int round = 0; round < repetitions(200, 50); ++round) {
    std::atomic<int> ended{0};
    const std::vector<int> numbers{1, 2, 3, 4, 5};
    const std::optional<int> got = nopal::either(numbers, [&](const int& each) {
      return each == round % 5 + 1 ? 10 * each : endless(ended);
    });
    EXPECT_EQ(got, 10 * (round % 5 + 1));
    EXPECT_LE(ended, 4);
  }
}

TEST(either_of_a_range, takes_functions) {
  std::vector<std::function<std::optional<int>()>> all(3, fails);
  EXPECT_EQ(nopal::either(all), std::nullopt);
  all.emplace_back([] { return 7; });
  EXPECT_EQ(nopal::either(all), 7);
  EXPECT_EQ(nopal::either(std::views::reverse(all)), 7);
  std::vector<void (*)()> of_none{[] {}};
  EXPECT_EQ(nopal::either(of_none), std::monostate{});
}

TEST(either_of_a_range, of_none_has_no_answer) {
  std::vector<std::function<std::optional<int>()>> none;
  EXPECT_EQ(nopal::either(none), std::nullopt);
  EXPECT_EQ(nopal::either(std::views::iota(0, 0), [](int i) { return i; }), std::nullopt);
}

TEST(either_of_a_range, throws_the_serially_first_exception_when_all_fail) {
  for (int round = 0; round < repetitions(100, 20); ++round)
    try {
      nopal::either(std::views::iota(0, 10), [](int i) -> std::optional<int> {
        if (i >= 3)
          throw numbered(i);
        return std::nullopt;
      });
      ADD_FAILURE();
    } catch (const numbered& thrown) {
      EXPECT_EQ(thrown.number(), 3);
    }
}

TEST(either_of_a_range, has_many_alternatives) {
  std::atomic<int> asked{0};
  const std::optional<std::string> got =
      nopal::either(std::views::iota(0, repetitions(2000, 200)), [&](int i) {
        asked += 1;
        return i == repetitions(1999, 199) ? std::optional{std::string(100, 'x')} : std::nullopt;
      });
  EXPECT_EQ(got, std::string(100, 'x'));
  EXPECT_LE(asked, repetitions(2000, 200));
}

TEST(either_of_a_range, gives_its_elements_as_they_are) {
  std::vector<int> numbers{1, 2, 3};
  EXPECT_EQ(nopal::either(numbers,
                          [](int& each) {
                            each += 10;
                            return std::optional<int>{};
                          }),
            std::nullopt);
  EXPECT_EQ(numbers, (std::vector<int>{11, 12, 13}));
}

TEST(either_of_a_range, returns_at_once_where_a_scope_owns_the_others) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    gate returned;
    std::atomic<int> stopped{0};
    {
      nopal::cancel_scope losers;
      std::optional<int> got;
      {
        std::vector<int> numbers{1, 2, 3}; // the alternatives that go on have copies
        got = nopal::either(losers, numbers, [&](int each) {
          if (each == 2)
            return each;
          const counted_end end{stopped};
          try {
            for (;;)
              nopal::yield();
          } catch (const nopal::cancelled&) {
            returned.wait();
            throw;
          }
        });
      }
      EXPECT_EQ(got, 2);
      EXPECT_EQ(stopped, 0);
      returned.open();
      static_cast<void>(losers.try_join());
    }
    EXPECT_LE(stopped, 2);
  }
  nopal::cancel_scope losers;
  std::vector<std::optional<int> (*)()> all(2, fails);
  EXPECT_EQ(nopal::either(losers, all), std::nullopt);
  all.clear();
  EXPECT_EQ(nopal::either(losers, all), std::nullopt);
  losers.cancel();
  all.push_back(fails);
  EXPECT_THROW(nopal::either(losers, all), nopal::cancelled);
}

TEST(either_of_a_range, is_cancelled_from_outside) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    gate running;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::atomic<bool> answered{false};
    nopal::cancel_scope s;
    s.fork([&] {
      nopal::either(std::views::iota(0, 4), [&](int) {
        begun += 1;
        running.open();
        return endless(ended);
      });
      answered = true;
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(begun, ended);
    EXPECT_FALSE(answered);
  }
}

TEST(either, finds_a_solution_of_the_queens) {
  for (int round = 0; round < repetitions(300, 60); ++round) {
    const std::optional<board> found = queens_from({}, 0, 0, 8);
    ASSERT_TRUE(found);
    ASSERT_TRUE(solves(*found));
  }
}

} // namespace
} // namespace nopal_test
