// SPDX-License-Identifier: MIT
// What may be forked, when it is copied, and how many and how deep; for programs with and without
// forced steals.
#include "nopal/stack/stack.h"
#include "tests/api/support.h"

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace nopal_test {

TEST(fork, lambda) {
  int result = 0;
  nopal::scope s;
  s.fork([&result] { result = 42; });
  s.join();
  EXPECT_EQ(result, 42);
}

TEST(fork, result_and_arguments) {
  const int n = repetitions(20, 9);
  EXPECT_EQ(fib(n), n == 20 ? 6765 : 34);
}

int called = 0;
void count_call() { ++called; }

TEST(fork, void_function) {
  nopal::scope s;
  s.fork(count_call);
  s.join();
  s.fork(&count_call);
  s.join();
  EXPECT_EQ(called, 2);
}

struct account {
  int balance;
  int add(int amount) { return balance += amount; }
  int twice() const noexcept { return 2 * balance; }
};

TEST(fork, member_pointers) {
  account savings{5};
  int added = 0;
  int twice = 0;
  int balance = 0;
  nopal::scope s;
  s.fork(added, &account::add, &savings, 3);
  s.join();
  s.fork(twice, &account::twice, std::as_const(savings));
  s.fork(balance, &account::balance, &savings);
  s.join();
  EXPECT_EQ(added, 8);
  EXPECT_EQ(twice, 16);
  EXPECT_EQ(balance, 8);
}

TEST(fork, move_only_closure_and_arguments) {
  auto owned = std::make_unique<int>(7);
  int seen = 0;
  std::unique_ptr<int> returned;
  nopal::scope s;
  s.fork([owned = std::move(owned), &seen] { seen = *owned; });
  s.fork(returned, [](std::unique_ptr<int> given) { return given; }, std::make_unique<int>(9));
  s.join();
  EXPECT_EQ(seen, 7);
  ASSERT_NE(returned, nullptr);
  EXPECT_EQ(*returned, 9);
}

// Small enough for registers, trivial to move, and not to be copied.
struct token {
  explicit token(int number) : value{number} {}
  token(token&&) = default;
  token(const token&) = delete;
  int value;
};

TEST(fork, trivially_movable_but_not_copyable) {
  int from_closure = 0;
  int from_argument = 0;
  nopal::scope s;
  s.fork([held = token{3}, &from_closure] { from_closure = held.value; });
  s.fork(from_argument, [](token given) { return given.value; }, token{4});
  s.join();
  EXPECT_EQ(from_closure, 3);
  EXPECT_EQ(from_argument, 4);
}

TEST(fork, arguments_arrive_as_rvalues) {
  int small = 0;
  std::string large;
  nopal::scope s;
  s.fork(small, [](int&& value) { return value + 1; }, 5);
  s.fork(large, [](std::string&& value) { return std::move(value) + "!"; }, std::string(40, 'x'));
  s.join();
  EXPECT_EQ(small, 6);
  EXPECT_EQ(large, std::string(40, 'x') + "!");
}

TEST(fork, closure_larger_than_registers) {
  std::array<long, 64> values{};
  std::iota(values.begin(), values.end(), 1);
  long sum = 0;
  nopal::scope s;
  s.fork([values, &sum] { sum = std::accumulate(values.begin(), values.end(), 0L); });
  values.fill(-1);
  s.join();
  EXPECT_EQ(sum, 64 * 65 / 2);
}

// Each closure leaves a mark when it dies; its child is not finished before.
struct last_will {
  explicit last_will(int* mark) : mark_{mark} {}
  last_will(last_will&& other) noexcept : mark_{std::exchange(other.mark_, nullptr)} {}
  ~last_will() {
    if (mark_ != nullptr)
      *mark_ += 1;
  }
  int* mark_;
};

TEST(fork, closure_is_destroyed_before_the_join_returns) {
  for (int i = 0; i < repetitions(1000, 3); ++i) {
    int mark = 0;
    nopal::scope s;
    s.fork([will = last_will(&mark)] { ASSERT_EQ(*will.mark_, 0); });
    s.join();
    ASSERT_EQ(mark, 1);
  }
}

TEST(fork, closure_of_a_stolen_parent_is_destroyed_before_the_join_returns) {
  int mark = 0;
  gate stolen;
  nopal::scope s;
  s.fork([will = last_will(&mark), &stolen] { stolen.wait(); });
  stolen.open();
  s.join();
  EXPECT_EQ(mark, 1);
}

double weigh(char a, double b, short c, float d, long e, double f, int g, long double h,
             std::string_view i) {
  return a + 2 * b + 3 * c + 4 * static_cast<double>(d) + 5 * static_cast<double>(e) + 6 * f +
         7 * g + 8 * static_cast<double>(h) + 9 * static_cast<double>(i.size());
}

TEST(fork, more_arguments_than_registers) {
  double as_bytes = 0;
  double otherwise = 0;
  nopal::scope s;
  s.fork(as_bytes, weigh, char{1}, 0.5, short{3}, 0.25f, 5L, 1.5, 7, 2.5L, "twenty of characters");
  s.fork(otherwise, weigh, char{1}, 0.5, short{3}, 0.25f, 5L, 1.5, 7, 2.5L, std::string(20, 'i'));
  s.join();
  EXPECT_EQ(as_bytes, weigh(1, 0.5, 3, 0.25f, 5, 1.5, 7, 2.5L, "twenty of characters"));
  EXPECT_EQ(otherwise, as_bytes);
}

template <class... Words> long polynomial(Words... words) {
  long value = 0;
  ((value = 10 * value + words), ...);
  return value;
}

// With the scope and the address of the result, four words fill the registers.
TEST(fork, words_up_to_and_beyond_the_registers) {
  std::array<long, 6> values{};
  nopal::scope s;
  s.fork(values[0], polynomial<long>, 1L);
  s.fork(values[1], polynomial<long, long>, 1L, 2L);
  s.fork(values[2], polynomial<long, long, long>, 1L, 2L, 3L);
  s.fork(values[3], [](auto... words) { return polynomial(words...); }, 1L, 2L, 3L, 4L);
  s.fork(values[4], [](auto... words) { return polynomial(words...); }, 1L, 2L, 3L, 4L, 5L);
  s.fork(values[5], [](auto... words) { return polynomial(words...); }, 1L, 2L, 3L, 4L, 5L, 6L);
  s.join();
  EXPECT_EQ(values, (std::array<long, 6>{1, 12, 123, 1234, 12345, 123456}));
}

TEST(fork, arguments_without_a_result) {
  std::array<long, 3> seen{};
  nopal::scope s;
  s.fork([](long* to) { *to = 1; }, &seen[0]);
  s.fork([](long* to, char a, short b, float c) { *to = a + b + static_cast<long>(c); }, &seen[1],
         char{1}, short{2}, 4.0f);
  s.fork([](long* to, const std::string& text) { *to = static_cast<long>(text.size()); }, &seen[2],
         std::string(50, 'x'));
  s.join();
  EXPECT_EQ(seen, (std::array<long, 3>{1, 7, 50}));
}

template <std::size_t Bytes> void fork_a_closure_of() {
  std::array<unsigned char, Bytes> values{};
  std::iota(values.begin(), values.end(), static_cast<unsigned char>(1));
  std::array<unsigned char, Bytes> seen{};
  nopal::scope s;
  s.fork([values, &seen] { seen = values; });
  const std::array<unsigned char, Bytes> expected = values;
  values.fill(0);
  s.join();
  EXPECT_EQ(seen, expected);
}

TEST(fork, closures_of_every_number_of_words) {
  fork_a_closure_of<1>();
  fork_a_closure_of<8>();
  fork_a_closure_of<11>();
  fork_a_closure_of<16>();
  fork_a_closure_of<20>();
  fork_a_closure_of<32>();
  fork_a_closure_of<33>();
  fork_a_closure_of<40>();
}

struct pair_of_doubles {
  double a;
  double b;
};

TEST(fork, floating_point_arguments) {
  double product = 0;
  double difference = 0;
  nopal::scope s;
  s.fork(product, [](double x, float y) { return x * static_cast<double>(y); }, 1.5, 3.0f);
  s.fork(
      difference, [](pair_of_doubles p, float z) { return p.a - p.b + static_cast<double>(z); },
      pair_of_doubles{8, 3}, 0.5f);
  s.join();
  EXPECT_EQ(product, 4.5);
  EXPECT_EQ(difference, 5.5);
}

TEST(fork, references) {
  int counted = 0;
  int result = 0;
  nopal::scope s;
  s.fork(result, [](int& n) { return ++n; }, std::ref(counted));
  s.join();
  EXPECT_EQ(counted, 1);
  EXPECT_EQ(result, 1);
}

TEST(fork, results_that_are_no_simple_values) {
  std::vector<std::string> words;
  std::function<int(int)> doubled;
  nopal::scope s;
  s.fork(
      words, [](int n) { return std::vector<std::string>(static_cast<std::size_t>(n), "word"); },
      100);
  s.fork(doubled, [] { return [](int n) { return 2 * n; }; });
  s.join();
  EXPECT_EQ(words, std::vector<std::string>(100, "word"));
  EXPECT_EQ(doubled(21), 42);
}

// The parent overwrites what it passed as soon as it can, which is while the child still waits.
TEST(fork, arguments_are_copied_before_the_continuation_runs) {
  for (int i = 0; i < repetitions(200, 50); ++i) {
    gate stolen;
    int small = i;
    std::string large(100, 'a');
    std::array<int, 40> closure{};
    closure.fill(i);
    int small_seen = -1;
    std::string large_seen;
    int closure_seen = -1;
    nopal::scope s;
    s.fork(
        small_seen, [&stolen](auto... each) { return stolen.wait(), (each + ...); }, small, small,
        small, small, small, small);
    small = -2;
    s.fork(large_seen, [&stolen](const std::string& value) { return stolen.wait(), value; }, large);
    large.assign(100, 'b');
    s.fork([closure, &closure_seen, &stolen] { stolen.wait(), closure_seen = closure[39]; });
    closure.fill(-2);
    stolen.open();
    s.join();
    ASSERT_EQ(small_seen, 6 * i);
    ASSERT_EQ(large_seen, std::string(100, 'a'));
    ASSERT_EQ(closure_seen, i);
  }
}

TEST(fork, several_scopes_in_one_function) {
  for (int i = 0; i < repetitions(1000, 3); ++i) {
    long a = 0;
    long b = 0;
    long c = 0;
    nopal::scope outer;
    outer.fork(a, fib, 10);
    nopal::scope inner;
    inner.fork(b, fib, 9);
    inner.fork(c, fib, 8);
    inner.join();
    ASSERT_EQ(b, 34);
    ASSERT_EQ(c, 21);
    outer.fork(b, fib, 11);
    outer.join();
    ASSERT_EQ(a, 55);
    ASSERT_EQ(b, 89);
  }
}

TEST(fork, nested_blocks) {
  for (int i = 0; i < repetitions(1000, 3); ++i) {
    long total = 0;
    nopal::scope outer;
    long first = 0;
    outer.fork(first, fib, 10);
    for (int k = 0; k < 3; ++k) {
      long inside = 0;
      nopal::scope inner;
      inner.fork(inside, fib, 5 + k);
      total += fib(5);
      inner.join();
      total += inside;
    }
    outer.join();
    ASSERT_EQ(first + total, 55 + 3 * 5 + 5 + 8 + 13);
  }
}

TEST(fork, scope_joins_where_it_dies) {
  for (int i = 0; i < repetitions(1000, 3); ++i) {
    long x = 0;
    {
      nopal::scope s;
      s.fork(x, fib, 8);
    }
    ASSERT_EQ(x, 21);
  }
}

TEST(fork, scope_is_used_again_after_a_join) {
  nopal::scope s;
  long sum = 0;
  const int rounds = repetitions(20000, 200);
  for (int i = 0; i < rounds; ++i) {
    long x = 0;
    long y = 0;
    s.fork(x, [i] { return long{i}; });
    s.fork(y, [] { return 1L; });
    s.join();
    sum += x + y;
  }
  EXPECT_EQ(sum, long{rounds} * (rounds - 1) / 2 + rounds);
}

long fork_in_sequence(int count) {
  long sum = 0;
  nopal::scope s;
  for (int i = 0; i < count; ++i)
    s.fork([&sum, i] { __atomic_fetch_add(&sum, long{i}, __ATOMIC_RELAXED); });
  s.join();
  return sum;
}

TEST(fork, ten_million_in_one_scope_from_a_worker) {
  const int count = repetitions(10'000'000, 2000);
  long sum = 0;
  nopal::scope s;
  s.fork(sum, fork_in_sequence, count);
  s.join();
  EXPECT_EQ(sum, long{count} * (count - 1) / 2);
}

TEST(fork, ten_million_in_one_scope_from_main) {
  const int count = repetitions(10'000'000, 2000);
  EXPECT_EQ(fork_in_sequence(count), long{count} * (count - 1) / 2);
}

// Recurses by forks until the stack has little more room than its last fork needs.
long dive(int depth) {
  const volatile int local = depth;
  const auto at = reinterpret_cast<std::uintptr_t>(&local);
  if (depth == 0 || (nopal::stack::is_ours(at) &&
                     at < nopal::stack::lowest_fork(nopal::stack::stack_of(at)) + 2048))
    return 1;
  nopal::scope s;
  long below;
  s.fork(below, dive, depth - 1);
  s.join();
  return below + 1;
}

TEST(fork, recursion_to_the_end_of_the_stack) {
  EXPECT_GT(dive(repetitions(1 << 20, 5000)), 500);
  EXPECT_EQ(dive(100), 101); // and nothing is left behind
}

} // namespace nopal_test
