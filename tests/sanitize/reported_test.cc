// SPDX-License-Identifier: MIT
// Faulty programs under a sanitizer: the sanitizer must find the fault behind forks and steals as
// it does in a serial program, and end the program with its own exit code.
#include <nopal/fork.h>
#include <nopal/runtime.h>

#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace {

class reported : public testing::Test {
protected:
  reported() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    nopal::options asked;
    asked.num_workers = 2;
    nopal::configure(asked);
    nopal::vproc::force_steals(3);
  }
};

bool ends_in_error(int status) { return WIFEXITED(status) && WEXITSTATUS(status) != 0; }

// Holds the child until its continuation has come to a place on another thread. The accesses are
// relaxed, so that they order nothing. Of two accesses at the very same time ThreadSanitizer may
// see neither, so the racy one of the continuation comes before that place.
class stolen_for_sure {
public:
  void in_child() const {
    while (!there_.load(std::memory_order_relaxed))
      std::this_thread::yield();
  }
  void in_continuation() { there_.store(true, std::memory_order_relaxed); }

private:
  std::atomic<bool> there_{false};
};

// Reads and writes that the compiler must leave where they are.
[[gnu::noinline, maybe_unused]] void increment(int& number) {
  number = number + 1;
  asm volatile("" ::: "memory");
}

int outcome_of(int sum) { return sum == 0 ? 1 : 0; }

#if defined(NOPAL_TEST_THREAD)

int child_and_continuation(bool racy) {
  int numbers[2] = {};
  stolen_for_sure steal;
  nopal::scope s;
  s.fork([&] {
    steal.in_child();
    increment(numbers[0]);
  });
  increment(numbers[racy ? 0 : 1]);
  steal.in_continuation();
  s.join();
  return outcome_of(numbers[0] + numbers[1]);
}

int nested(bool racy) {
  nopal::scope s;
  int outcome = 1;
  s.fork(outcome, child_and_continuation, racy);
  s.join();
  return outcome;
}

TEST_F(reported, RaceOfChildAndContinuation) {
  EXPECT_EXIT(std::exit(child_and_continuation(true)), ends_in_error, "data race(.|\n)*increment");
  EXPECT_EXIT(std::exit(child_and_continuation(false)), testing::ExitedWithCode(0), "^$");
}

TEST_F(reported, RaceOnOurOwnStacks) {
  EXPECT_EXIT(std::exit(nested(true)), ends_in_error, "data race(.|\n)*increment");
  EXPECT_EXIT(std::exit(nested(false)), testing::ExitedWithCode(0), "^$");
}

int before_and_after_the_join(bool racy) {
  int number = 0;
  stolen_for_sure steal;
  nopal::scope s;
  s.fork([&] {
    steal.in_child();
    increment(number);
  });
  if (racy)
    increment(number);
  steal.in_continuation();
  s.join();
  if (!racy)
    increment(number);
  return outcome_of(number);
}

TEST_F(reported, RaceThatAJoinWouldHaveAvoided) {
  EXPECT_EXIT(std::exit(before_and_after_the_join(true)), ends_in_error, "data race");
  EXPECT_EXIT(std::exit(before_and_after_the_join(false)), testing::ExitedWithCode(0), "^$");
}

#elif defined(NOPAL_TEST_ADDRESS)

[[gnu::noinline]] void store(char* at, int index) {
  at[index] = 1;
  asm volatile("" ::: "memory");
}

// An array of the frame whose continuation runs on the thief's stack.
int in_stolen_frame(int index) {
  char array[24] = {};
  stolen_for_sure steal;
  nopal::scope s;
  s.fork([&] { steal.in_child(); });
  steal.in_continuation();
  store(array, index);
  s.join();
  return outcome_of(array[index % 24]);
}

// The same after the child has left the frame's stack.
int after_the_child_left(int index) {
  char array[24] = {};
  stolen_for_sure steal;
  nopal::scope s;
  s.fork([&] { steal.in_child(); });
  steal.in_continuation();
  s.join();
  store(array, index);
  return outcome_of(array[index % 24]);
}

int in_child(int index) {
  int outcome = 1;
  nopal::scope s;
  s.fork([&outcome, index] {
    char array[24] = {};
    store(array, index);
    outcome = outcome_of(array[index % 24]);
  });
  s.join();
  return outcome;
}

// In a callee of the stolen continuation, whose frame lies on the thief's stack.
[[gnu::noinline]] int callee(int index) {
  char array[24] = {};
  store(array, index);
  return outcome_of(array[index % 24]);
}

int in_callee(int index) {
  stolen_for_sure steal;
  nopal::scope s;
  s.fork([&] { steal.in_child(); });
  steal.in_continuation();
  const int outcome = callee(index);
  s.join();
  return outcome;
}

int nested(int (*f)(int), int index) {
  nopal::scope s;
  int outcome = 1;
  s.fork(outcome, f, index);
  s.join();
  return outcome;
}

class overflow : public reported, public testing::WithParamInterface<int (*)(int)> {};

TEST_P(overflow, OfAnArrayOnTheStack) {
  EXPECT_EXIT(std::exit(GetParam()(24)), ends_in_error, "stack-buffer-overflow");
  EXPECT_EXIT(std::exit(GetParam()(23)), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(std::exit(nested(GetParam(), 24)), ends_in_error, "stack-buffer-overflow");
  EXPECT_EXIT(std::exit(nested(GetParam(), 23)), testing::ExitedWithCode(0), "^$");
}

INSTANTIATE_TEST_SUITE_P(places, overflow,
                         testing::Values(in_stolen_frame, after_the_child_left, in_child,
                                         in_callee));

int after_the_child_freed(bool faulty) {
  auto* own = new int{0};
  stolen_for_sure steal;
  nopal::scope s;
  s.fork([&] {
    steal.in_child();
    if (faulty)
      delete own;
  });
  steal.in_continuation();
  s.join();
  increment(*own);
  const int outcome = outcome_of(*own);
  delete own;
  return outcome;
}

// A local of a function that ran on a thief's stack, which is empty after the join.
[[gnu::noinline]] int* address_of_a_local() {
  int local = 1;
  int* address = &local;
  asm volatile("" : "+r"(address) : : "memory");
  return address;
}

int after_the_thief_left(bool faulty) {
  int own = 1;
  int* kept = &own;
  stolen_for_sure steal;
  std::atomic<bool> pointed{false};
  nopal::scope s;
  s.fork([&] {
    steal.in_child();
    while (!pointed)
      std::this_thread::yield();
  });
  steal.in_continuation();
  if (faulty)
    kept = address_of_a_local();
  pointed = true;
  s.join();
  return outcome_of(*kept);
}

TEST_F(reported, UseOfALocalOfAFunctionThatReturnedOnAThiefsStack) {
  const auto in_a_strand = [](bool faulty) {
    int outcome = 0;
    nopal::scope s;
    s.fork([&] { outcome = after_the_thief_left(faulty); });
    s.join();
    return outcome;
  };
  EXPECT_EXIT(std::exit(in_a_strand(true)), ends_in_error, "use-after-poison");
  EXPECT_EXIT(std::exit(in_a_strand(false)), testing::ExitedWithCode(0), "^$");
}

TEST_F(reported, UseOfWhatTheChildFreed) {
  EXPECT_EXIT(std::exit(after_the_child_freed(true)), ends_in_error, "heap-use-after-free");
  EXPECT_EXIT(std::exit(after_the_child_freed(false)), testing::ExitedWithCode(0), "^$");
}

#else

TEST_F(reported, OverflowOfASignedSumInAStolenContinuation) {
  const auto sum = [](int a) {
    volatile int big = a;
    stolen_for_sure steal;
    nopal::scope s;
    s.fork([&] { steal.in_child(); });
    steal.in_continuation();
    big = big + 1;
    s.join();
    return outcome_of(big);
  };
  EXPECT_EXIT(std::exit(sum(2147483647)), ends_in_error, "signed integer overflow");
  EXPECT_EXIT(std::exit(sum(2147483646)), testing::ExitedWithCode(0), "^$");
}

#endif

} // namespace
