// SPDX-License-Identifier: MIT
// Why something was cancelled, as what is stopped reads it.
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/fiber_group.h"
#include "nopal/loop.h"
#include "tests/api/endless.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>

namespace nopal_test {

using namespace std::chrono_literals;

// The number in the reason of a cancel; -1: there is none.
int number_of(const std::exception_ptr& reason) {
  if (reason == nullptr)
    return -1;
  try {
    std::rethrow_exception(reason);
  } catch (const numbered& thrown) {
    return thrown.number();
  }
}

// Runs until it is stopped, and reads why.
void endless_and_read(gate& running, std::atomic<int>& read) {
  try {
    endless(running);
  } catch (const nopal::cancelled&) {
    read = number_of(nopal::cancel_reason());
    throw;
  }
}

TEST(cancel_reason, is_read_by_what_is_stopped) {
  EXPECT_EQ(number_of(nopal::cancel_reason()), -1);
  for (int round = 0; round < repetitions(100, 20); ++round) {
    gate running;
    std::atomic<int> read{0};
    nopal::cancel_scope region;
    EXPECT_EQ(number_of(region.reason()), -1);
    region.fork([&] {
      read = number_of(nopal::cancel_reason());
      endless_and_read(running, read);
    });
    running.wait();
    EXPECT_EQ(read, -1);
    region.cancel(std::make_exception_ptr(numbered(round)));
    region.cancel(std::make_exception_ptr(numbered(-2)));
    region.cancel();
    EXPECT_FALSE(region.try_join());
    EXPECT_EQ(read, round);
    EXPECT_EQ(number_of(region.reason()), round);
  }
  EXPECT_EQ(numbered::alive, 0);
}

TEST(cancel_reason, is_that_of_the_innermost_that_has_one) {
  int read[3] = {};
  nopal::cancel_scope outer;
  outer.fork([&] {
    nopal::cancel_scope inner;
    inner.fork([&] {
      outer.cancel(std::make_exception_ptr(numbered(1)));
      read[0] = number_of(nopal::cancel_reason());
      inner.cancel();
      read[1] = number_of(nopal::cancel_reason());
    });
  });
  static_cast<void>(outer.try_join());
  EXPECT_EQ(read[0], 1);
  EXPECT_EQ(read[1], 1);
  nopal::cancel_scope shield;
  shield.fork([&] {
    nopal::shielded([&] {
      shield.cancel(std::make_exception_ptr(numbered(1)));
      read[2] = number_of(nopal::cancel_reason());
    });
  });
  static_cast<void>(shield.try_join());
  EXPECT_EQ(read[2], -1);
  nopal::cancel_scope both;
  both.fork([&] {
    nopal::cancel_scope inner;
    inner.fork([&] {
      both.cancel(std::make_exception_ptr(numbered(2)));
      inner.cancel(std::make_exception_ptr(numbered(3)));
      read[0] = number_of(nopal::cancel_reason());
    });
  });
  static_cast<void>(both.try_join());
  EXPECT_EQ(read[0], 3);
}

// Of several that cancel at the same time one is the first, and what is stopped reads its reason.
TEST(cancel_reason, of_several_that_cancel_is_the_firsts) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    std::atomic<int> read{0};
    nopal::cancel_scope region;
    gate running;
    region.fork([&] { endless_and_read(running, read); });
    running.wait();
    nopal::for_index(1, 5, [&](int i) { region.cancel(std::make_exception_ptr(numbered(i))); }, 1);
    EXPECT_FALSE(region.try_join());
    EXPECT_EQ(read, number_of(region.reason()));
    EXPECT_GE(read, 1);
  }
}

template <class Thrown> bool is_a(const std::exception_ptr& reason) {
  try {
    if (reason != nullptr)
      std::rethrow_exception(reason);
  } catch (const Thrown&) {
    return true;
  } catch (...) {
  }
  return false;
}

// Waits for ever, and returns why it was stopped.
std::exception_ptr why_stopped() {
  try {
    nopal::channel<int>{}.recv();
  } catch (const nopal::cancelled&) {
    return nopal::cancel_reason();
  }
  return nullptr;
}

TEST(reason, of_a_group_is_its_failure) {
  for (int round = 0; round < repetitions(50, 10); ++round) {
    std::exception_ptr read;
    std::atomic<bool> waits{false};
    nopal::run([&] {
      nopal::fiber_group all;
      all.spawn([&] {
        nopal::run([&] {
          waits = true;
          read = why_stopped();
        });
      });
      all.spawn([&] {
        while (!waits)
          nopal::yield();
        throw std::runtime_error("first");
      });
      EXPECT_THROW(all.join(), std::runtime_error);
      EXPECT_TRUE(is_a<std::runtime_error>(all.reason()));
    });
    EXPECT_TRUE(is_a<std::runtime_error>(read));
  }
}

TEST(reason, of_a_task_and_of_cancelables) {
  std::exception_ptr read[3];
  bool late_has_begun = false;
  nopal::run([&] {
    std::atomic<int> begun{0};
    const auto read_to = [&begun](std::exception_ptr& to) {
      begun += 1;
      to = why_stopped();
    };
    nopal::cancelable above;
    nopal::cancelable below{above};
    nopal::task stopped{read_to, std::ref(read[0])};
    nopal::spawn(below, read_to, std::ref(read[1]));
    while (begun != 2)
      nopal::yield();
    nopal::cancel_scope late{1ms};
    late.fork([&] {
      late_has_begun = true; // or the deadline came before
      read[2] = why_stopped();
    });
    static_cast<void>(late.try_join());
    EXPECT_TRUE(is_a<nopal::deadline_passed>(late.reason()));
    stopped.cancel(std::make_exception_ptr(std::logic_error("enough")));
    stopped.join();
    EXPECT_EQ(below.reason(), nullptr);
    above.cancel(std::make_exception_ptr(std::runtime_error("stop")));
    EXPECT_TRUE(is_a<std::runtime_error>(below.reason()));
  });
  EXPECT_TRUE(is_a<std::logic_error>(read[0]));
  EXPECT_TRUE(is_a<std::runtime_error>(read[1]));
  EXPECT_TRUE(!late_has_begun || is_a<nopal::deadline_passed>(read[2]));
}

TEST(reason, of_a_computation_is_what_its_function_threw) {
  std::exception_ptr read;
  std::atomic<bool> waits{false};
  const auto body = [&] {
    nopal::spawn([&] {
      waits = true;
      read = why_stopped();
    });
    while (!waits)
      nopal::yield();
    throw std::runtime_error("body");
  };
  EXPECT_THROW(nopal::run(body), std::runtime_error);
  EXPECT_TRUE(is_a<std::runtime_error>(read));
}

} // namespace nopal_test
