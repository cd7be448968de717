// SPDX-License-Identifier: MIT
// What C, C++ and the processor keep for a thread and Nopal for a strand: errno, the floating-point
// control words, and the exceptions that are handled or on their way.
#include "nopal/floating_point.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cerrno>
#include <cfenv>
#include <exception>
#include <stdexcept>
#include <string>

namespace nopal_test {

// In functions of their own: a compiler may keep errno's place, and fold what it can compute.
[[gnu::noinline]] int error_now() { return errno; }
[[gnu::noinline]] void set_error(int value) { errno = value; }
template <class Real> bool rounds_up() {
  volatile Real unit = 1;
  volatile Real third = unit / 3;
  volatile Real sum = third + third;
  sum = sum + third;
  return sum > unit;
}

// The control words of the thread that the strand runs on, and what sums show of them.
struct control {
  int rounding;
  bool flushes;
  bool rounds_up_vectors, rounds_up_x87;

  static control now() {
    return {std::fegetround(), _MM_GET_FLUSH_ZERO_MODE() == _MM_FLUSH_ZERO_ON, rounds_up<double>(),
            rounds_up<long double>()};
  }
  bool operator==(const control&) const = default;
};

// While an object of it lives, its strand rounds up and flushes small numbers, and no other does.
class odd_arithmetic : nopal::floating_point {
public:
  odd_arithmetic()
      : nopal::floating_point([] {
          std::fesetround(FE_UPWARD);
          _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
        }) {}
};

TEST(strand_state, errno_goes_with_a_stolen_continuation_and_through_a_join) {
  for (int i = 1; i <= repetitions(100, 20); ++i) {
    gate stolen;
    nopal::scope s;
    set_error(i);
    s.fork([&stolen] { stolen.wait(); });
    EXPECT_EQ(error_now(), i) << "in the continuation, on a thief";
    set_error(1000 + i);
    stolen.open();
    s.join();
    EXPECT_EQ(error_now(), 1000 + i) << "after the join, which sets nothing";
  }
}

TEST(strand_state, errno_of_the_child_is_its_own_thread_s) {
  gate stolen;
  gate set;
  int seen = 0;
  nopal::scope s;
  s.fork([&] {
    stolen.wait();
    set_error(ENOENT);
    set.open();
    be_stolen();
    seen = error_now();
  });
  stolen.open();
  set.wait();
  EXPECT_NE(error_now(), ENOENT);
  s.join();
  EXPECT_EQ(seen, ENOENT);
}

TEST(strand_state, floating_point_control_goes_with_a_stolen_continuation) {
  const control usual = control::now();
  for (int i = 0; i < repetitions(50, 10); ++i) {
    control child{};
    gate stolen;
    {
      const odd_arithmetic arithmetic;
      const control odd = control::now();
      ASSERT_NE(odd, usual);
      nopal::scope s;
      s.fork([&] {
        stolen.wait();
        child = control::now();
      });
      EXPECT_EQ(control::now(), odd) << "in the continuation";
      stolen.open();
      s.join();
      EXPECT_EQ(control::now(), odd) << "after the join";
      EXPECT_EQ(child, odd) << "the child has its parent's";
    }
    EXPECT_EQ(control::now(), usual);
  }
}

TEST(strand_state, floating_point_control_stays_with_its_strand) {
  const control usual = control::now();
  for (int i = 0; i < repetitions(50, 10); ++i) {
    gate stolen;
    gate seen;
    nopal::scope s;
    s.fork([&] {
      const odd_arithmetic arithmetic;
      const control odd = control::now();
      stolen.wait();
      be_stolen();
      EXPECT_EQ(control::now(), odd);
      seen.wait();
    });
    EXPECT_EQ(control::now(), usual) << "in the continuation";
    stolen.open();
    EXPECT_EQ(control::now(), usual);
    seen.open();
    s.join();
    EXPECT_EQ(control::now(), usual) << "after the join";
  }
}

// The worker's next strand must not compute as the last one did.
TEST(strand_state, floating_point_control_does_not_stay_with_a_worker) {
  const control usual = control::now();
  std::atomic<int> odd{0};
  for (int i = 0; i < repetitions(200, 20); ++i) {
    nopal::scope s;
    s.fork([&] {
      const odd_arithmetic arithmetic;
      be_stolen();
    });
    if (control::now() != usual)
      odd.fetch_add(1);
    be_stolen();
    if (control::now() != usual)
      odd.fetch_add(1);
    s.join();
  }
  EXPECT_EQ(odd, 0);
}

std::string message_of(const std::exception_ptr& thrown) {
  if (thrown == nullptr)
    return "none";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Rethrows what is being handled, wherever that handler is.
[[noreturn]] [[gnu::noinline]] void rethrow() { throw; }

TEST(strand_state, a_child_forked_in_a_handler_sees_what_is_handled) {
  for (int i = 0; i < repetitions(50, 10); ++i) {
    std::string in_child;
    std::string in_grandchild;
    std::string rethrown;
    bool stays = false;
    try {
      throw std::runtime_error("handled");
    } catch (const std::runtime_error& handled) {
      gate stolen;
      nopal::scope s;
      s.fork([&] {
        stolen.wait();
        in_child = message_of(std::current_exception());
        {
          nopal::scope inner;
          inner.fork([&] { in_grandchild = message_of(std::current_exception()); });
          inner.join();
        }
        try {
          rethrow();
        } catch (const std::runtime_error& again) {
          rethrown = again.what();
        }
        stays = message_of(std::current_exception()) == "handled";
      });
      stolen.open();
      EXPECT_EQ(message_of(std::current_exception()), "handled");
      s.join();
      EXPECT_EQ(message_of(std::current_exception()), "handled");
      EXPECT_STREQ(handled.what(), "handled");
    }
    EXPECT_EQ(in_child, "handled");
    EXPECT_EQ(in_grandchild, "handled");
    EXPECT_EQ(rethrown, "handled");
    EXPECT_TRUE(stays);
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  }
}

TEST(strand_state, a_child_that_rethrows_what_its_parent_handles_fails_with_it) {
  for (int i = 0; i < repetitions(50, 10); ++i) {
    std::string outer;
    try {
      try {
        throw std::runtime_error("first");
      } catch (const std::runtime_error&) {
        nopal::scope s;
        s.fork(rethrow);
        be_stolen();
        s.join();
      }
    } catch (const std::runtime_error& again) {
      outer = again.what();
    }
    EXPECT_EQ(outer, "first");
    EXPECT_EQ(std::current_exception(), nullptr);
  }
}

TEST(strand_state, exceptions_can_be_nested_across_forks) {
  for (int i = 0; i < repetitions(50, 10); ++i) {
    std::string inner;
    std::string outer;
    try {
      try {
        throw std::runtime_error("inner");
      } catch (...) {
        be_stolen();
        nopal::scope s;
        s.fork([] {
          be_stolen();
          std::throw_with_nested(std::logic_error("outer"));
        });
        be_stolen();
        s.join();
      }
    } catch (const std::logic_error& error) {
      outer = error.what();
      try {
        std::rethrow_if_nested(error);
      } catch (const std::runtime_error& nested) {
        inner = nested.what();
      }
    }
    EXPECT_EQ(outer, "outer");
    EXPECT_EQ(inner, "inner");
  }
}

TEST(strand_state, a_child_forked_while_an_exception_is_on_its_way_sees_it) {
  struct forks_at_its_end {
    ~forks_at_its_end() {
      gate stolen;
      nopal::scope s;
      s.fork([&] {
        stolen.wait();
        be_stolen();
        child = std::uncaught_exceptions();
      });
      parent = std::uncaught_exceptions();
      stolen.open();
      s.join();
      after = std::uncaught_exceptions();
    }
    int& child;
    int& parent;
    int& after;
  };
  for (int i = 0; i < repetitions(50, 10); ++i) {
    int child = -1;
    int parent = -1;
    int after = -1;
    try {
      const forks_at_its_end object{child, parent, after};
      throw std::runtime_error("on its way");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(child, 1);
    EXPECT_EQ(parent, 1);
    EXPECT_EQ(after, 1);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  }
}

} // namespace nopal_test
