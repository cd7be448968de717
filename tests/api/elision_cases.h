// SPDX-License-Identifier: MIT
// One source that must give the results stated here, whether its forks are forks or plain calls.
#pragma once

#include <nopal/loop.h>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace {

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

TEST(elision, forks) {
  long number = 0;
  std::string text;
  {
    nopal::scope s;
    s.fork(number, fib, 15);
    s.fork([&text] { text = "cactus"; });
  }
  EXPECT_EQ(number, 610);
  EXPECT_EQ(text, "cactus");
}

TEST(elision, arguments) {
  std::unique_ptr<int> owned;
  int added = 0;
  nopal::scope s;
  s.fork(owned, [](std::unique_ptr<int> given) { return given; }, std::make_unique<int>(3));
  s.fork(added, std::plus<>{}, 4, 5);
  s.join();
  EXPECT_EQ(*owned, 3);
  EXPECT_EQ(added, 9);
}

// What a child changes of its function object and of its arguments are copies.
TEST(elision, copies) {
  int seen[3];
  auto count = [&seen, n = 0](int at) mutable { seen[at] = ++n; };
  std::string text = "longer than what a string keeps in itself";
  std::string moved = text;
  int number = 1;
  int result = 0;
  nopal::scope s;
  s.fork(count, 0);
  s.fork(count, 1);
  s.fork([](auto&& given) { const std::string taken = std::forward<decltype(given)>(given); },
         text);
  s.fork([](const std::string&) {}, std::move(moved));
  s.fork([](auto&& given) { given = 5; }, number);
  s.fork(result, [](auto&& given) { return given = 6; }, number);
  s.join();
  count(2);
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], 1);
  EXPECT_EQ(seen[2], 1);
  EXPECT_EQ(text, "longer than what a string keeps in itself");
  EXPECT_EQ(moved, "") << "an rvalue is moved, also where the function only reads it";
  EXPECT_EQ(number, 1);
  EXPECT_EQ(result, 6);
}

// What a child returns may refer to its copies of the arguments, until it is assigned.
TEST(elision, results_that_refer_to_arguments) {
  const std::string a = "longer than what a string keeps in itself";
  std::string longer;
  std::size_t length = 0;
  nopal::scope s;
  s.fork(
      longer,
      [](const std::string& x, const std::string& y) -> const std::string& {
        return x.size() < y.size() ? y : x;
      },
      a, std::string("short"));
  s.fork(length, [](const std::string& x) -> std::size_t { return x.size(); }, a);
  s.join();
  EXPECT_EQ(longer, a);
  EXPECT_EQ(length, a.size());
}

// Counts how often it is copied and moved, as a function object or as an argument.
struct counted {
  int* copies;
  int* moves;
  counted(int* c, int* m) : copies{c}, moves{m} {}
  counted(const counted& from) : copies{from.copies}, moves{from.moves} { ++*copies; }
  counted(counted&& from) noexcept : copies{from.copies}, moves{from.moves} { ++*moves; }
  void operator()() const {}
};

TEST(elision, copies_once) {
  int copies = 0;
  int moves = 0;
  const counted named{&copies, &moves};
  nopal::scope s;
  s.fork(named);
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(moves, 0);
  s.fork([](const counted&) {}, named);
  EXPECT_EQ(copies, 2);
  EXPECT_EQ(moves, 0);
  s.fork(counted{&copies, &moves});
  EXPECT_EQ(copies, 2);
  EXPECT_EQ(moves, 1);
  int result = 0;
  s.fork(result, [named = counted{&copies, &moves}] { return 3; });
  s.join();
  EXPECT_EQ(copies, 2);
  EXPECT_EQ(moves, 2);
  EXPECT_EQ(result, 3);
}

struct throws_always {
  ~throws_always() noexcept(false) { throw std::runtime_error("destroyed"); }
};
struct throws_unless_moved {
  bool armed = true;
  throws_unless_moved() = default;
  throws_unless_moved(throws_unless_moved&& from) noexcept
      : armed{std::exchange(from.armed, false)} {}
  ~throws_unless_moved() noexcept(false) {
    if (armed)
      throw std::runtime_error("destroyed");
  }
};

TEST(elision, a_destructor_of_what_a_child_captured_throws) {
  const auto fork_and_join = [](auto make) {
    try {
      nopal::scope s;
      s.fork([t = make()] {});
      s.join();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(fork_and_join([] { return throws_always{}; }), "destroyed");
  EXPECT_EQ(fork_and_join([] { return throws_unless_moved{}; }), "destroyed");
  const auto with_result = [] {
    int result = 0;
    try {
      nopal::scope s;
      s.fork(result, [t = throws_always{}] { return 2; });
      s.join();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(with_result(), "destroyed");
  const auto in_an_argument = [] {
    try {
      nopal::scope s;
      s.fork([](const throws_unless_moved&) {}, throws_unless_moved{});
      s.join();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(in_an_argument(), "destroyed");
}

TEST(elision, invoke) {
  const auto [half, nothing, word] =
      nopal::invoke([] { return 0.5; }, [] {}, [] { return std::string("pad"); });
  static_assert(std::is_same_v<decltype(nothing), const std::monostate>);
  EXPECT_EQ(half, 0.5);
  EXPECT_EQ(word, "pad");
}

// Whichever begins, results come in the order of the functions.
TEST(elision, invoke_by_score) {
  for (const int score : {1, 2, 3}) {
    const auto [half, word] =
        nopal::invoke_by_score(2, [] { return 0.5; }, score, [] { return std::string("pad"); });
    EXPECT_EQ(half, 0.5);
    EXPECT_EQ(word, "pad");
    const auto [nothing, number] = nopal::invoke_by_score(score, [] {}, 2, [] { return 1; });
    static_assert(std::is_same_v<decltype(nothing), const std::monostate>);
    EXPECT_EQ(number, 1);
  }
}

TEST(elision, of_two_exceptions_that_of_the_higher_score) {
  const auto caught = [](int score_of_first, int score_of_second) {
    try {
      nopal::invoke_by_score(
          score_of_first, []() -> int { throw std::runtime_error("first"); }, score_of_second,
          [] { throw std::runtime_error("second"); });
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(caught(2, 1), "first");
  EXPECT_EQ(caught(1, 1), "first");
  EXPECT_EQ(caught(1, 2), "second");
}

TEST(elision, loops) {
  std::vector<int> values(1000);
  nopal::for_index(0, 1000, [&values](int i) { values[static_cast<std::size_t>(i)] = i; });
  nopal::for_each(values, [](int& value) { value *= 2; });
  const auto add = [&values](std::size_t i) { return values[i]; };
  EXPECT_EQ(nopal::reduce(std::size_t{0}, values.size(), 0, std::plus<>{}, add), 999000);
  const auto digit = [](int i) { return std::to_string(i % 10); };
  EXPECT_EQ(nopal::reduce(0, 12, std::string{}, std::plus<>{}, digit), "012345678901");
}

// The bits of this sum depend on the bracketing, which is the same both ways.
TEST(elision, rounding) {
  const double sum = nopal::reduce(1, 100001, 0.0, std::plus<>{}, [](int i) { return 1.0 / i; });
  double blocks = 0.0;
  EXPECT_NEAR(sum, 12.090146129863428, 1e-12);
  for (int i = 1; i < 100001; ++i)
    blocks += 1.0 / i;
  EXPECT_NE(sum, blocks) << "a sum that cannot tell brackets apart";
  EXPECT_EQ(sum, 0x1.82e27a22f3fbp+3);
}

TEST(elision, the_serially_first_exception) {
  std::string caught;
  try {
    nopal::invoke([] { return 1; }, []() -> int { throw std::runtime_error("first"); },
                  []() -> int { throw std::runtime_error("second"); });
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }
  EXPECT_EQ(caught, "first");
  try {
    nopal::for_index(0, 100, [](int i) {
      if (i % 30 == 29)
        throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }
  EXPECT_EQ(caught, "29");
}

} // namespace
