// SPDX-License-Identifier: MIT
// With one worker the structured forms do exactly what the serial elision does: what comes after an
// exception is not started.
#include "nopal/loop.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <functional>
#include <string>

namespace nopal_test {
namespace {

const start this_program{1};

template <class F> std::string thrown_by(F f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

[[noreturn]] void fail(const char* what) { throw std::runtime_error(what); }

TEST(serial_order, functions_behind_one_that_throws_are_not_called) {
  std::string called;
  const std::string thrown = thrown_by([&] {
    nopal::invoke([&] { called += 'a'; },
                  [&] {
                    called += 'b';
                    fail("b");
                  },
                  [&] { called += 'c'; },
                  [&] {
                    called += 'd';
                    fail("d");
                  });
  });
  EXPECT_EQ(thrown, "b");
  EXPECT_EQ(called, "ab");
  EXPECT_EQ(nopal::stats().suppressed_exceptions, 0u);
}

TEST(serial_order, of_nested_ones_neither) {
  std::string called;
  const std::string thrown = thrown_by([&] {
    nopal::invoke(
        [&] {
          nopal::invoke([&] { called += 'a'; }, [&] { fail("first"); }, [&] { called += 'b'; });
        },
        [&] { called += 'c'; });
  });
  EXPECT_EQ(thrown, "first");
  EXPECT_EQ(called, "a");
}

TEST(serial_order, iterations_behind_one_that_throws_are_not_run) {
  for (const int thrower : {0, 1, 77, 998, 999}) {
    for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{10}}) {
      int run = 0;
      EXPECT_EQ(thrown_by([&] {
                  nopal::for_index(
                      0, 1000,
                      [&](int i) {
                        ++run;
                        if (i >= thrower)
                          fail(std::to_string(i).c_str());
                      },
                      grain);
                }),
                std::to_string(thrower));
      EXPECT_EQ(run, thrower + 1);
      run = 0;
      EXPECT_EQ(thrown_by([&] {
                  nopal::reduce(
                      0, 1000, 0, std::plus<>{},
                      [&](int i) {
                        ++run;
                        if (i >= thrower)
                          fail(std::to_string(i).c_str());
                        return i;
                      },
                      grain);
                }),
                std::to_string(thrower));
      EXPECT_EQ(run, thrower + 1);
    }
  }
}

TEST(serial_order, what_follows_is_as_if_nothing_had_been) {
  EXPECT_EQ(thrown_by([] { nopal::invoke([] { fail("once"); }, [] {}); }), "once");
  int run = 0;
  nopal::for_index(0, 100, [&run](int) { ++run; }, 1);
  EXPECT_EQ(run, 100);
  const auto [x, y] = nopal::invoke([] { return 1; }, [] { return 2; });
  EXPECT_EQ(x + y, 3);
}

} // namespace
} // namespace nopal_test
