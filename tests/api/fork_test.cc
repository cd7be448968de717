// SPDX-License-Identifier: MIT
// The cases of fork_cases.cc where thieves come when they please, and what is a matter of types.
#include "tests/api/support.h"

namespace {
const nopal_test::start this_program{4};
}

namespace nopal_test {

// fork(apply, task) might mean apply(task) or apply = task(); only the first of them compiles.
TEST(fork, a_function_that_is_an_lvalue_is_no_place_for_a_result) {
  int result = 0;
  auto apply = [&result](auto task) { result = task(); };
  const auto task = [] { return 42; };
  nopal::scope s;
  s.fork(apply, task);
  s.join();
  EXPECT_EQ(result, 42);
}

} // namespace nopal_test
