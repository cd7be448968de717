// SPDX-License-Identifier: MIT
// NOPAL_RACES: ThreadSanitizer reports the races of all schedules, whatever that of the run.
#include "tests/sanitize/programs.h"

#include <nopal/fiber.h>
#include <nopal/fork.h>
#include <nopal/loop.h>

#include <cstddef>
#include <functional>
#include <vector>
namespace {

class racy : public races {};
TEST_P(racy, is_reported) { expect(kReported); }

bool siblings() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { increment(number); });
  s.fork([&] { increment(number); });
  s.join();
  return number == 2;
}

bool child_and_continuation() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { increment(number); });
  increment(number);
  s.join();
  return number == 2;
}

[[gnu::noinline]] void in_a_grandchild(int& number) {
  nopal::scope s;
  s.fork([&number] { increment(number); });
  s.join();
}

// The inner scope is joined, the outer one is not.
bool across_nested_scopes() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { in_a_grandchild(number); });
  in_a_grandchild(number);
  s.join();
  return number == 2;
}

// Many forks lie between the two accesses, and take many of the tool's fibers.
void tree(int depth, std::vector<int>& leaves, std::size_t at) {
  if (depth == 0)
    return increment(leaves[at]);
  nopal::scope s;
  s.fork([&, depth, at] { tree(depth - 1, leaves, 2 * at); });
  tree(depth - 1, leaves, 2 * at + 1);
  s.join();
}

bool below_many_forks() {
  std::vector<int> leaves(64);
  int number = 0;
  nopal::scope s;
  s.fork([&] {
    increment(number);
    tree(6, leaves, 0);
  });
  tree(4, leaves, 0); // the same leaves, too
  s.join();
  return number == 1;
}

bool behind_an_earlier_join() {
  int number = 0;
  nopal::scope s;
  s.fork([&] { increment(number); });
  s.join();
  s.fork([&] { increment(number); });
  increment(number);
  s.join();
  return number == 3;
}

bool neighbours_in_a_loop() {
  std::vector<int> all(300);
  nopal::for_index(0, 299, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    all[at] = i;
    all[at + 1] = i;
  });
  return true;
}

bool shared_accumulator() {
  int number = 0;
  const int sum = nopal::reduce(0, 100, 0, std::plus<>{}, [&](int i) {
    increment(number);
    return i;
  });
  return sum == 4950;
}

[[gnu::noinline]] void through_a_pointer(int* at) { increment(*at); }

bool in_the_parents_frame() {
  int number = 0;
  std::vector<int*> elsewhere{&number};
  nopal::scope s;
  s.fork([&elsewhere] { through_a_pointer(elsewhere[0]); });
  through_a_pointer(elsewhere[0]);
  s.join();
  return number == 2;
}

bool fiber_beside_a_fork() {
  int number = 0;
  nopal::run([&] {
    nopal::spawn([&] { increment(number); });
    nopal::scope s;
    s.fork([&] { increment(number); });
    s.join();
  });
  return number == 2;
}

INSTANTIATE_TEST_SUITE_P(programs, racy,
                         testing::Values(NAMED(siblings), NAMED(child_and_continuation),
                                         NAMED(across_nested_scopes), NAMED(below_many_forks),
                                         NAMED(behind_an_earlier_join), NAMED(neighbours_in_a_loop),
                                         NAMED(shared_accumulator), NAMED(in_the_parents_frame),
                                         NAMED(fiber_beside_a_fork)),
                         name_of);

} // namespace
