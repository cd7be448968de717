// SPDX-License-Identifier: MIT
// Spawning and joining on processes that are forked from one: what is computed, whatever is stolen.
#include "tests/process/processes.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace nopal_test {
namespace {

constexpr unsigned numbers_of_processes[] = {1, 2, 4, 8};

TEST(spawn, computes_what_the_serial_elision_does) {
  for (const unsigned processes : numbers_of_processes) {
    const ended got = computed_by({.processes = processes}, fib, 22);
    EXPECT_EQ(got.said, "17711");
    EXPECT_EQ(got.status, 0);
  }
}

struct large {
  long numbers[40];
};

long sum_of(large given, int depth) {
  long sum = 0;
  if (depth == 0) {
    for (const long each : given.numbers)
      sum += each;
    return sum;
  }
  large more = given;
  more.numbers[depth] += 1;
  process::task<long> left = process::spawn(sum_of, given, depth - 1);
  process::task<long> right = process::spawn(sum_of, more, depth - 1);
  const long both = process::join(right) + process::join(left);
  return both;
}

TEST(spawn, copies_large_arguments) {
  const ended got = computed_by({.processes = 4}, sum_of, large{{1, 2, 3}}, 10);
  EXPECT_EQ(got.said, std::to_string(1024 * 6 + 10 * 512));
}

large grown(large given, int depth) {
  if (depth == 0)
    return given;
  process::task<large> left = process::spawn(grown, given, depth - 1);
  large right = grown(given, depth - 1);
  const large got = process::join(left);
  for (int i = 0; i < 40; ++i)
    right.numbers[i] += got.numbers[i];
  return right;
}

TEST(spawn, returns_large_results) {
  const auto first = [](int depth) { return grown(large{{1}}, depth).numbers[0]; };
  EXPECT_EQ(computed_by({.processes = 4}, first, 10).said, "1024");
}

TEST(spawn, says_what_is_in_force_once_if_asked) {
  const ended got = computed_by({.processes = 3, .verbose = true, .seed = 7}, fib, 10);
  EXPECT_EQ(got.said, "nopal: 3 processes by local, each with a region of 262144 bytes and a heap "
                      "of 16777216 bytes; seed 7\n55");
}

TEST(spawn, warns_once_of_a_variable_that_is_not_known) {
  setenv("NOPAL_PROCESSESS", "3", 1);
  const ended got = computed_by({.processes = 3}, fib, 10);
  unsetenv("NOPAL_PROCESSESS");
  EXPECT_TRUE(got.said.starts_with("nopal: NOPAL_PROCESSESS is not a variable that Nopal knows"))
      << got.said;
  EXPECT_EQ(std::count(got.said.begin(), got.said.end(), '\n'), 1);
}

// A result that cannot be made without a value.
struct numbered_result {
  explicit numbered_result(int value) : number{value} {}
  int number;
};
numbered_result number_of(int n) { return numbered_result{n}; }

TEST(spawn, returns_results_that_have_no_default) {
  const auto sum = [](int n) {
    process::task<numbered_result> child = process::spawn(number_of, n);
    return process::join(child).number + 1;
  };
  EXPECT_EQ(computed_by({.processes = 2}, sum, 4).said, "5");
}

int fails_at(int depth, int place) {
  if (depth == 0) {
    if (place == 0)
      throw std::out_of_range("place 0");
    return 1;
  }
  process::task<int> left = process::spawn(fails_at, depth - 1, place);
  const int right = fails_at(depth - 1, place - (1 << (depth - 1)));
  return process::join(left) + right;
}

int caught(int depth, int place) {
  process::task<int> sum = process::spawn(fails_at, depth, place);
  try {
    return process::join(sum);
  } catch (const process::remote_error& error) {
    return error.type() == "std::out_of_range" && error.text() == "place 0" ? -1 : -2;
  }
}

TEST(spawn, throws_at_the_join_what_a_task_has_thrown) {
  for (const int place : {0, 1, 500, 1023, 5000})
    EXPECT_EQ(computed_by({.processes = 4}, caught, 10, place).said, place < 1024 ? "-1" : "1024");
}

} // namespace
} // namespace nopal_test
