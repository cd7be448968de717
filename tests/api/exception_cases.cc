// SPDX-License-Identifier: MIT
// Where exceptions go: from children and continuations, stolen or not, one and several.
#include "nopal/loop.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <atomic>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace nopal_test {

// The number of what `action` throws; 0 if nothing. Afterwards no exception is alive.
template <class Action> int thrown_by(Action action) {
  int number = 0;
  try {
    action();
  } catch (const numbered& thrown) {
    number = thrown.number();
  }
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(numbered::alive.load(), 0);
  return number;
}

int rounds() { return repetitions(200, 6); }

TEST(exception, of_a_child) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                nopal::scope s;
                s.fork([] { throw numbered(1); });
                s.join();
              }),
              1);
}

TEST(exception, of_a_child_with_a_stolen_parent) {
  EXPECT_EQ(thrown_by([] {
              gate stolen;
              nopal::scope s;
              s.fork([&stolen] {
                stolen.wait();
                throw numbered(1);
              });
              stolen.open();
              s.join();
            }),
            1);
}

TEST(exception, of_the_continuation_waits_for_the_child) {
  bool finished = false;
  EXPECT_EQ(thrown_by([&finished] {
              gate stolen;
              nopal::scope s;
              s.fork([&] {
                stolen.wait();
                be_stolen();
                finished = true;
              });
              stolen.open();
              throw numbered(2);
            }),
            2);
  EXPECT_TRUE(finished);
}

TEST(exception, of_the_continuation_hides_and_counts_the_childs) {
  for (int i = 0; i < rounds(); ++i) {
    const std::uint64_t before = nopal::stats().suppressed_exceptions;
    ASSERT_EQ(thrown_by([] {
                nopal::scope s;
                s.fork([] { throw numbered(1); });
                throw numbered(2);
              }),
              2);
    ASSERT_EQ(nopal::stats().suppressed_exceptions, before + 1);
  }
}

TEST(exception, the_serially_first_of_several_children) {
  for (int i = 0; i < rounds(); ++i) {
    std::uint64_t suppressed = 0;
    ASSERT_EQ(thrown_by([&suppressed] {
                nopal::scope s;
                for (int n = 1; n <= 5; ++n)
                  s.fork([n] {
                    if (n % 2 == 0)
                      be_stolen();
                    throw numbered(n);
                  });
                try {
                  s.join();
                } catch (...) {
                  suppressed = nopal::suppressed_exceptions();
                  throw;
                }
              }),
              1);
    ASSERT_LE(suppressed, 4u) << "those that had started";
  }
}

// The children end in the reverse of their serial order, all of them detached.
TEST(exception, the_serially_first_however_late) {
  EXPECT_EQ(thrown_by([] {
              gate all_forked;
              gate third;
              gate second;
              nopal::scope s;
              s.fork([&] {
                second.wait();
                throw numbered(1);
              });
              s.fork([&] {
                third.wait();
                second.open();
                throw numbered(2);
              });
              s.fork([&] {
                all_forked.wait();
                third.open();
                throw numbered(3);
              });
              all_forked.open();
              s.join();
            }),
            1);
}

TEST(exception, of_a_later_round_only) {
  for (int i = 0; i < rounds(); ++i) {
    nopal::scope s;
    ASSERT_EQ(thrown_by([] {}), 0);
    int caught = 0;
    for (int round = 1; round <= 3; ++round) {
      s.fork([round] {
        if (round != 2)
          throw numbered(round);
      });
      s.fork([] {});
      try {
        s.join();
      } catch (const numbered& thrown) {
        caught = 10 * caught + thrown.number();
      }
    }
    ASSERT_EQ(caught, 13);
  }
}

TEST(exception, leaves_through_the_joining_destructor) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                nopal::scope s;
                s.fork([] { throw numbered(4); });
              }),
              4);
}

TEST(exception, leaves_through_inner_and_outer_scopes) {
  for (int i = 0; i < rounds(); ++i) {
    int outer_done = 0;
    ASSERT_EQ(thrown_by([&outer_done] {
                nopal::scope outer;
                outer.fork([&outer_done] { outer_done = static_cast<int>(fib(8)); });
                nopal::scope inner;
                inner.fork([] { throw numbered(6); });
                inner.join();
                ADD_FAILURE() << "the join did not throw";
              }),
              6);
    ASSERT_EQ(outer_done, 21);
  }
}

// An exception climbs through `depth` frames, whose continuations are stolen or not.
int climb(int depth) {
  if (depth == 0)
    throw numbered(99);
  nopal::scope s;
  int below = 0;
  s.fork(below, climb, depth - 1);
  const long busy = fib(depth % 3);
  s.join();
  return below + static_cast<int>(busy);
}

TEST(exception, climbs_through_many_frames) {
  for (int i = 0; i < repetitions(50, 1); ++i)
    ASSERT_EQ(thrown_by([] { climb(60); }), 99);
}

TEST(exception, caught_and_replaced_on_the_way) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                nopal::scope s;
                s.fork([] {
                  try {
                    climb(3);
                  } catch (const numbered& thrown) {
                    throw numbered(thrown.number() + 1);
                  }
                });
                s.join();
              }),
              100);
}

TEST(exception, invoke_throws_what_comes_first_in_the_list) {
  for (int i = 0; i < rounds(); ++i) {
    const std::uint64_t before = nopal::stats().suppressed_exceptions;
    std::uint64_t suppressed = 0;
    ASSERT_EQ(thrown_by([&suppressed] {
                try {
                  nopal::invoke([] { return 1; }, [] { be_stolen(), throw numbered(2); },
                                [] { throw numbered(3); }, [] { throw numbered(4); });
                } catch (...) {
                  suppressed = nopal::suppressed_exceptions();
                  throw;
                }
              }),
              2);
    ASSERT_LE(suppressed, 2u) << "those that had started";
    ASSERT_EQ(nopal::stats().suppressed_exceptions, before + suppressed);
  }
}

TEST(exception, invoke_throws_that_of_its_last_function) {
  ASSERT_EQ(thrown_by([] { nopal::invoke([] { be_stolen(); }, [] { throw numbered(2); }); }), 2);
}

TEST(exception, loops_throw_that_of_the_smallest_index) {
  for (int i = 0; i < repetitions(20, 5); ++i) {
    ASSERT_EQ(thrown_by([] {
                nopal::for_index(1, 200, [](int n) {
                  if (n % 50 == 0)
                    throw numbered(n);
                });
              }),
              50);
    ASSERT_EQ(thrown_by([] {
                nopal::reduce(1, 200, 0, std::plus<>{}, [](int n) {
                  if (n >= 70 && n % 7 == 0)
                    throw numbered(n);
                  return n;
                });
              }),
              70);
  }
}

// Unwinding passes through destructors that fork.
class forks_at_its_end {
public:
  explicit forks_at_its_end(long& result) : result_{result} {}
  ~forks_at_its_end() {
    EXPECT_EQ(std::uncaught_exceptions(), 1);
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, 8);
    EXPECT_EQ(std::uncaught_exceptions(), 1);
    const long y = fib(7);
    s.join();
    EXPECT_EQ(std::uncaught_exceptions(), 1);
    result_ = x + y;
  }
  forks_at_its_end(const forks_at_its_end&) = delete;
  forks_at_its_end& operator=(const forks_at_its_end&) = delete;

private:
  long& result_;
};

TEST(exception, passes_destructors_that_fork) {
  for (int i = 0; i < rounds(); ++i) {
    long result = 0;
    ASSERT_EQ(thrown_by([&result] {
                const forks_at_its_end end(result);
                throw numbered(5);
              }),
              5);
    ASSERT_EQ(result, 34);
  }
}

class is_stolen_at_its_end {
public:
  is_stolen_at_its_end() = default;
  ~is_stolen_at_its_end() {
    gate stolen;
    nopal::scope s;
    s.fork([&stolen] { stolen.wait(); });
    EXPECT_EQ(std::uncaught_exceptions(), 1);
    stolen.open();
    s.join();
    EXPECT_EQ(std::uncaught_exceptions(), 1);
  }
  is_stolen_at_its_end(const is_stolen_at_its_end&) = delete;
  is_stolen_at_its_end& operator=(const is_stolen_at_its_end&) = delete;
};

TEST(exception, passes_destructors_that_are_stolen) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                const is_stolen_at_its_end end;
                throw numbered(5);
              }),
              5);
}

TEST(exception, passes_destructors_that_are_stolen_in_a_child) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                nopal::scope s;
                s.fork([] {
                  const is_stolen_at_its_end end;
                  throw numbered(5);
                });
                s.join();
              }),
              5);
}

TEST(exception, is_rethrown_by_a_handler_that_was_stolen) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                try {
                  throw numbered(7);
                } catch (const numbered& thrown) {
                  gate stolen;
                  nopal::scope s;
                  s.fork([&stolen] { stolen.wait(); });
                  EXPECT_NE(std::current_exception(), nullptr);
                  stolen.open();
                  s.join();
                  EXPECT_EQ(thrown.number(), 7);
                  throw;
                }
              }),
              7);
}

// The handler is left on another thread than the one that entered it; the exception lives as long
// as the child, which sees it too.
TEST(exception, dies_with_a_handler_that_was_stolen) {
  for (int i = 0; i < rounds(); ++i)
    ASSERT_EQ(thrown_by([] {
                gate stolen;
                nopal::scope s;
                try {
                  throw numbered(7);
                } catch (const numbered& thrown) {
                  s.fork([&stolen] { stolen.wait(); });
                  EXPECT_EQ(thrown.number(), 7);
                }
                EXPECT_EQ(std::current_exception(), nullptr);
                EXPECT_EQ(std::uncaught_exceptions(), 0);
                stolen.open();
                s.join();
                EXPECT_EQ(numbered::alive.load(), 0);
              }),
              0);
}

// Both sides of a fork handle exceptions of their own at the same time.
long handle_many(int depth) {
  if (depth == 0) {
    try {
      throw numbered(1);
    } catch (const numbered& thrown) {
      return thrown.number() + (std::uncaught_exceptions() == 0 ? 0 : 1000);
    }
  }
  nopal::scope s;
  long x = 0;
  s.fork(x, handle_many, depth - 1);
  const long y = handle_many(depth - 1);
  s.join();
  return x + y;
}

TEST(exception, many_at_once) {
  for (int i = 0; i < repetitions(20, 1); ++i)
    ASSERT_EQ(thrown_by([] { EXPECT_EQ(handle_many(8), 256); }), 0);
}

} // namespace nopal_test
