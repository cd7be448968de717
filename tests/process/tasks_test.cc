// SPDX-License-Identifier: MIT
// What can be done with tasks and sessions: who joins, in which order, how often a session runs.
#include "tests/process/processes.h"

#include <regex>
#include <stdexcept>
#include <string>

namespace nopal_test {
namespace {

constexpr unsigned numbers_of_processes[] = {1, 2, 3, 5, 7, 8};

TEST(tasks, run_on_any_number_of_processes) {
  for (const unsigned processes : numbers_of_processes) {
    const ended got = computed_by({.processes = processes}, fib, 20);
    EXPECT_EQ(got.said, "6765");
    EXPECT_EQ(got.status, 0);
    EXPECT_TRUE(got.others.empty());
  }
}

TEST(tasks, run_where_each_operation_takes_long) {
  EXPECT_EQ(computed_by({.processes = 3, .latency_us = 50}, fib, 20).said, "6765");
  const ended got = apart([] {
    setenv("NOPAL_LATENCY_US", "50", 1);
    process::session session{0, nullptr, {.processes = 4}};
    const long result = session.run(fib, 18);
    if (session.rank() == 0)
      std::printf("%ld", result);
  });
  EXPECT_EQ(got.said, "2584");
}

long joins(process::task<long> child, long more) { return process::join(child) + more; }

// Each task is given to the next one, which joins it.
long given_on(int number) {
  process::task<long> last = process::spawn(fib, 12);
  for (int i = 1; i < number; ++i)
    last = process::spawn(joins, last, 1L);
  return process::join(last);
}

TEST(tasks, are_joined_by_others_than_their_spawner) {
  for (const unsigned processes : numbers_of_processes)
    EXPECT_EQ(computed_by({.processes = processes}, given_on, 200).said, std::to_string(144 + 199));
}

std::optional<process::task<long>> begun(int n) { return process::spawn(fib, n); }

// A task as the result of a task, joined by a function that has spawned neither.
long returned(int number) {
  long sum = 0;
  for (int i = 0; i < number; ++i) {
    process::task<std::optional<process::task<long>>> outer = process::spawn(begun, 10);
    process::task<long> inner = *process::join(outer);
    sum += process::join(inner);
  }
  return sum;
}

TEST(tasks, are_results_of_tasks) {
  for (const unsigned processes : numbers_of_processes)
    EXPECT_EQ(computed_by({.processes = processes}, returned, 50).said, std::to_string(50 * 55));
}

constexpr int many = 32;

// 0: the first spawned first; 1: the last first; 2: every fifth, round and round.
long in_order(int how) {
  std::optional<process::task<long>> all[many];
  for (int i = 0; i < many; ++i)
    all[i] = process::spawn(fib, i % 16);
  long sum = 0;
  for (int i = 0; i < many; ++i) {
    const int next = how == 0 ? i : how == 1 ? many - 1 - i : i * 5 % many;
    sum = sum * 3 % 1'000'003 + process::join(*all[next]);
  }
  return sum;
}

TEST(tasks, are_joined_in_any_order) {
  for (const int how : {0, 1, 2}) {
    const std::string alone = computed_by({.processes = 1}, in_order, how).said;
    EXPECT_FALSE(alone.empty());
    for (const unsigned processes : numbers_of_processes)
      EXPECT_EQ(computed_by({.processes = processes}, in_order, how).said, alone);
  }
}

std::atomic<int>* finished;

int counts(int n) {
  fib(n);
  finished->fetch_add(1);
  return 1;
}
int passes_by(int number) {
  process::task<int> child = process::spawn(counts, number % 12);
  process::task<int> two = process::spawn(counts, number % 10);
  if (number % 2 == 0)
    throw std::runtime_error("passes by");
  return process::join(child) + process::join(two);
}
int those_that_return(int number) {
  int sum = 0;
  for (int i = 0; i < number; ++i) {
    process::task<int> child = process::spawn(passes_by, i);
    try {
      sum += process::join(child);
    } catch (const process::remote_error& error) {
      sum += error.text() == "passes by" ? 100 : 10'000;
    }
  }
  return sum;
}

TEST(tasks, that_an_exception_has_passed_run_to_their_end) {
  const shared<std::atomic<int>> count;
  finished = count.get();
  for (const unsigned processes : numbers_of_processes) {
    *finished = 0;
    EXPECT_EQ(computed_by({.processes = processes}, those_that_return, 60).said, "3060");
    EXPECT_EQ(finished->load(), 120);
  }
}

void adds() { finished->fetch_add(1); }
int voids(int number) {
  std::optional<process::task<void>> all[many];
  for (int i = 0; i < number; ++i) {
    for (auto& each : all)
      each = process::spawn(adds);
    for (auto& each : all)
      process::join(*each);
  }
  return finished->load(); // each has been joined
}

TEST(tasks, of_nothing) {
  const shared<std::atomic<int>> count;
  finished = count.get();
  for (const unsigned processes : numbers_of_processes) {
    *finished = 0;
    EXPECT_EQ(computed_by({.processes = processes}, voids, 20).said, std::to_string(20 * many));
  }
}

template <int Words> struct numbers {
  long numbers[Words];
};

template <int Words> numbers<Words> filled(int depth, long from) {
  numbers<Words> own;
  for (int i = 0; i < Words; ++i)
    own.numbers[i] = from + i;
  if (depth > 0) {
    process::task<numbers<Words>> left = process::spawn(filled<Words>, depth - 1, from);
    const numbers<Words> right = filled<Words>(depth - 1, from + 1);
    const numbers<Words> both = process::join(left);
    for (int i = 0; i < Words; ++i)
      own.numbers[i] = both.numbers[i] + right.numbers[i];
  }
  return own;
}
// Over all leaves, word i has  2^depth * i  and as much again as there are right turns.
template <int Words> long wrong_ones(int depth) {
  const numbers<Words> got = filled<Words>(depth, 0);
  const long leaves = 1L << depth;
  long wrong = 0;
  for (int i = 0; i < Words; ++i)
    wrong += got.numbers[i] == leaves * i + leaves / 2 * depth ? 0 : 1;
  return wrong;
}

TEST(tasks, have_results_of_any_size) {
  for (const unsigned processes : {1u, 2u, 4u}) {
    const process::options roomy{.processes = processes, .region_size = std::size_t{4} << 20};
    EXPECT_EQ(computed_by(roomy, wrong_ones<1>, 8).said, "0");
    EXPECT_EQ(computed_by(roomy, wrong_ones<7>, 8).said, "0");
    EXPECT_EQ(computed_by(roomy, wrong_ones<125>, 8).said, "0");
    EXPECT_EQ(computed_by(roomy, wrong_ones<4000>, 6).said, "0");
  }
}

int fails(int depth) {
  if (depth == 0)
    throw std::invalid_argument("as it must");
  process::task<int> child = process::spawn(fails, depth - 1);
  fib(10);
  return process::join(child);
}

TEST(sessions, run_often) {
  for (const unsigned processes : numbers_of_processes) {
    const ended got = apart([&] {
      process::session session{0, nullptr, {.processes = processes}};
      long sum = 0;
      for (int i = 0; i < 100; ++i)
        sum += session.run(fib, i % 12);
      if (sum != 1'860) // in every process
        std::printf("process %u: %ld\n", session.rank(), sum);
    });
    EXPECT_EQ(got.said, "");
    EXPECT_EQ(got.status, 0);
  }
}

TEST(sessions, throw_in_every_process) {
  for (const unsigned processes : numbers_of_processes) {
    const ended got = apart([&] {
      process::session session{0, nullptr, {.processes = processes}};
      for (int i = 0; i < 10; ++i) {
        try {
          session.run(fails, i);
          std::printf("it returns\n");
        } catch (const process::remote_error& error) {
          std::fputs(error.what() == std::string("std::invalid_argument: as it must") ? "." : "?",
                     stdout);
        }
      }
      if (session.run(fib, 10) != 55)
        std::printf("wrong\n");
    });
    EXPECT_EQ(got.said, std::string(10 * processes, '.'));
    EXPECT_EQ(got.status, 0);
  }
}

TEST(sessions, come_one_after_the_other) {
  const ended got = apart([] {
    for (const unsigned processes : {2u, 1u, 3u}) {
      process::session session{0, nullptr, {.processes = processes}};
      const long result = session.run(fib, 12);
      if (session.rank() != 0)
        return;
      std::printf("%ld ", result);
    }
  });
  EXPECT_EQ(got.said, "144 144 144 ");
  EXPECT_EQ(got.status, 0);
}

int nothing() { return 0; }

// Runs tasks until something can be read.
int until_readable(int pipe) {
  pollfd output{pipe, POLLIN, 0};
  while (poll(&output, 1, 0) == 0) {
    process::task<int> child = process::spawn(nothing);
    process::join(child);
  }
  return pipe;
}

TEST(tasks, say_how_far_they_have_come_where_that_is_asked_for) {
  const ended got = apart([] {
    int ends[2];
    if (pipe(ends) != 0)
      return;
    dup2(ends[1], STDERR_FILENO);
    process::session session{0, nullptr, {.processes = 2, .progress = 1}};
    session.run(until_readable, ends[0]);
    char line[256] = {};
    if (session.rank() == 0 && read(ends[0], line, sizeof line - 1) > 0)
      std::printf("%s", line);
  });
  const std::regex line("nopal: after 1 s: process 0 of 2 has run [0-9]+ tasks, stolen [0-9]+ and "
                        "suspended [0-9]+\n");
  EXPECT_TRUE(std::regex_match(got.said, line)) << got.said;
  EXPECT_EQ(got.status, 0);
}

} // namespace
} // namespace nopal_test
