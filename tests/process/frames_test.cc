// SPDX-License-Identifier: MIT
// Frames that go on in another process: deep, large, amid exceptions and after them.
//
// A child that ends only when its parent was stolen makes the parent move for certain.
#include "tests/process/processes.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace nopal_test {
namespace {

const process::options two{.processes = 2, .region_size = std::size_t{1} << 20};
const process::options four{.processes = 4, .region_size = std::size_t{1} << 20};

// A check build may warn of a frame in which the address of an exception is left that was caught.
std::string result_of(const ended& got) {
  EXPECT_EQ(got.status, 0);
  return got.said.substr(got.said.rfind('\n') + 1);
}

// Calls, not tasks: one stack, which moves at its deepest point and at every tenth frame above.
long recursive(int depth, const long* above) {
  long own[8];
  std::iota(own, own + 8, depth);
  if (depth == 0) {
    move_on();
  } else {
    own[7] = recursive(depth - 1, own) + depth;
    if (depth % 10 == 0)
      move_on();
  }
  long sum = 0;
  for (int i = 0; i < 7; ++i)
    sum += own[i] - depth - i; // 0, if the frame is as it was
  return sum + own[7] - (depth == 0 ? 7 : 0) + (above == nullptr ? 0 : above[0] - depth - 1);
}
long recursive_from(int depth) { return recursive(depth, nullptr); }

TEST(frames, deep_ones_move) {
  EXPECT_EQ(computed_by(two, recursive_from, 300).said, std::to_string(300 * 301 / 2));
  EXPECT_EQ(computed_by(four, recursive_from, 300).said, std::to_string(300 * 301 / 2));
}

long large(int depth) {
  long array[1024]; // 8 KiB
  for (long i = 0; i < 1024; ++i)
    array[i] = i * depth;
  const unsigned before = process::rank();
  move_on();
  long wrong = process::rank() == before ? 1 : 0;
  for (long i = 0; i < 1024; ++i)
    wrong += array[i] == i * depth ? 0 : 1;
  if (depth > 0)
    wrong += large(depth - 1);
  move_on();
  for (long i = 0; i < 1024; ++i)
    wrong += array[i] == i * depth ? 0 : 1;
  return wrong;
}

long large_tree(int depth) {
  long array[1024];
  for (long i = 0; i < 1024; ++i)
    array[i] = i * depth;
  long wrong = 0;
  if (depth > 0) {
    process::task<long> left = process::spawn(large_tree, depth - 1);
    process::task<long> right = process::spawn(large_tree, depth - 1);
    wrong += process::join(right) + process::join(left);
  }
  for (long i = 0; i < 1024; ++i)
    wrong += array[i] == i * depth ? 0 : 1;
  return wrong;
}

TEST(frames, large_ones_move) {
  EXPECT_EQ(computed_by(two, large, 3).said, "0");
  EXPECT_EQ(computed_by(four, large, 20).said, "0");
  EXPECT_EQ(computed_by(two, large_tree, 10).said, "0");
  EXPECT_EQ(computed_by(four, large_tree, 10).said, "0");
}

int throws_after_it_moved(int value) {
  move_on();
  if (value % 2 == 0)
    throw std::runtime_error("even");
  return value;
}

// The handler is done when the frames move; then others throw through frames that have moved.
int caught_before(int rounds) {
  int caught = 0;
  for (int i = 0; i < rounds; ++i) {
    try {
      throw std::logic_error("here");
    } catch (const std::logic_error&) {
      ++caught;
    }
    move_on();
    try {
      caught += throws_after_it_moved(i) == i ? 0 : 1000;
    } catch (const std::runtime_error& error) {
      caught += error.what() == std::string("even") ? 10 : 1000;
    }
  }
  return caught;
}

TEST(frames, those_that_have_caught_move) {
  EXPECT_EQ(result_of(computed_by(two, caught_before, 20)), "120");
  EXPECT_EQ(result_of(computed_by(four, caught_before, 20)), "120");
}

// The continuation in a handler is not offered, so it stays where the exception is.
long spawns_in_a_handler(int n) {
  const unsigned before = process::rank();
  long result = 0;
  try {
    throw std::out_of_range("kept");
  } catch (const std::out_of_range& same) {
    process::task<long> child = process::spawn(fib, n);
    result = process::join(child);
    if (process::rank() != before || same.what() != std::string("kept"))
      return -1;
  }
  move_on();
  return process::rank() == before ? -2 : result;
}

TEST(frames, stay_amid_a_handler) {
  EXPECT_EQ(result_of(computed_by(two, spawns_in_a_handler, 20)), "6765");
  EXPECT_EQ(result_of(computed_by(four, spawns_in_a_handler, 20)), "6765");
}

struct spawns_when_it_ends {
  long* result;
  bool* stayed;
  ~spawns_when_it_ends() {
    const unsigned before = process::rank();
    process::task<long> child = process::spawn(fib, 15);
    *result += process::join(child);
    *stayed = *stayed && process::rank() == before;
  }
};

long unwound(int times) {
  long result = 0;
  bool stayed = true;
  for (int i = 0; i < times; ++i) {
    try {
      const spawns_when_it_ends guard{&result, &stayed};
      throw i;
    } catch (const int thrown) {
      result += thrown == i ? 0 : 1'000'000;
    }
    move_on();
  }
  return stayed ? result : -1;
}

TEST(frames, stay_while_they_are_unwound) {
  EXPECT_EQ(result_of(computed_by(two, unwound, 10)), "6100");
  EXPECT_EQ(result_of(computed_by(four, unwound, 10)), "6100");
}

// A task that is not done when a handler joins it: the frames wait with their exception.
struct seen {
  std::atomic<int> arrived{0};
  std::atomic<int> suspended{0};
};
seen* board;

int slow(std::uint32_t before, int round) {
  until_stolen(before);
  for (unsigned tries = 1; board->arrived.load() <= round; ++tries)
    nopal::base::wait_briefly(tries);
  return static_cast<int>(fib(18));
}

int joins_in_a_handler(int rounds) {
  int good = 0;
  for (int round = 0; round < rounds; ++round) {
    process::task<int> child = process::spawn(slow, process::this_worker.queue.stolen(), round);
    try {
      throw round;
    } catch (const int& same) {
      board->arrived.store(round + 1);
      good += process::join(child) == 2584 && same == round ? 1 : 0;
    }
  }
  return good;
}

TEST(frames, wait_amid_a_handler) {
  const shared<seen> all;
  board = all.get();
  for (const unsigned processes : {2u, 4u}) {
    const ended got = apart([&] {
      process::session session{0, nullptr, {.processes = processes}};
      const int good = session.run(joins_in_a_handler, 30);
      board->suspended += static_cast<int>(process::this_worker.done.suspended);
      if (session.rank() == 0)
        std::printf("%d", good);
      std::fflush(stdout);
    });
    EXPECT_EQ(result_of(got), "30");
    EXPECT_GT(board->suspended.load(), 0);
    board->arrived = 0;
  }
}

} // namespace
} // namespace nopal_test
