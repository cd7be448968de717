// SPDX-License-Identifier: MIT
// Values that are larger than a strand's stack of 1 MiB. Scans and submitted functions kept them in
// frames of their own and ended by SIGSEGV without a word. Now they lie in their places and on the
// heap; and where the program's own frame leaps over a stack and its guard, a sentence says so.
#include "nopal/base/die.h"
#include "nopal/fiber_group.h"
#include "nopal/future.h"
#include "nopal/scan.h"
#include "nopal/submit.h"
#include "tests/api/support.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace nopal_test {
namespace {

// All of it is written and read, by calls.
template <std::size_t Bytes> struct large {
  long words[Bytes / sizeof(long)];

  explicit large(long x = 0) noexcept { fill(x); }
  large(const large& from) noexcept { fill(from.value()); }
  large& operator=(const large& from) noexcept {
    fill(from.value());
    return *this;
  }
  [[gnu::noinline]] void fill(long x) noexcept { std::ranges::fill(words, x); }
  [[gnu::noinline]] long value() const noexcept {
    return std::ranges::all_of(words, [this](long each) { return each == words[0]; }) ? words[0]
                                                                                      : -1;
  }
};
using element = large<1126400>;

struct sum {
  element operator()(const element& a, const element& b) const {
    return element{a.value() + b.value()};
  }
};
template <class T> long value_of(const T& of) { return of.value(); }

constexpr long count = 70; // two blocks

void scan_inclusively() {
  std::vector<element> all;
  for (long i = 0; i < count; ++i)
    all.emplace_back(i);
  nopal::inclusive_scan(all, all.begin(), sum{});
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(all[i].value(), static_cast<long>(i * (i + 1) / 2));
}

TEST(large_values, of_a_scan) {
  scan_inclusively();
  std::vector<element> all(count, element{1});
  nopal::exclusive_scan(all, all.begin(), element{3}, sum{});
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(all[i].value(), static_cast<long>(i) + 3);
}

TEST(large_values, of_a_scan_in_a_strand) {
  nopal::scope s;
  s.fork(scan_inclusively);
  s.join();
}

TEST(large_values, of_a_scan_that_throws) {
  std::vector<element> all(count, element{1});
  const auto fails = [](const element& a, const element& b) {
    if (a.value() == 20)
      throw std::runtime_error("meant");
    return element{a.value() + b.value()};
  };
  EXPECT_THROW(nopal::inclusive_scan(all, all.begin(), fails), std::runtime_error);
}

element seven() { return element{7}; }

TEST(large_values, of_submitted_functions) {
  EXPECT_EQ(std::make_unique<element>(nopal::submit(seven).get())->value(), 7);
  EXPECT_EQ(nopal::submit(seven).then(value_of<element>).get(), 7);
  EXPECT_EQ(nopal::when_all(nopal::submit(seven), nopal::submit(seven))
                .then([](const std::tuple<element, element>& both) {
                  return std::get<0>(both).value() + std::get<1>(both).value();
                })
                .get(),
            14);
  auto fails = nopal::submit([]() -> element { throw std::runtime_error("meant"); });
  EXPECT_THROW(fails.get(), std::runtime_error);
}

TEST(large_values, of_fibers_lie_in_their_handles) {
  nopal::run([] {
    nopal::task made{seven};
    made.join();
    nopal::future1<element> touched{seven};
    const auto set = std::make_unique<nopal::ivar<element>>();
    nopal::spawn([&] { set->set(7); });
    EXPECT_EQ(set->get().value(), 7);
  });
}

class large_values_death : public death {};

const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);
constexpr const char* of_fiber = "stack overflow: a spawned fiber needs more than the 256 KiB";
constexpr const char* of_strand = "stack overflow: the recursion needs more than the 1024 KiB";
constexpr const char* of_thread =
    "stack overflow: the recursion needs more than the calling thread's own stack";

template <std::size_t Bytes> [[gnu::noinline]] void in_a_frame() {
  large<Bytes> own{3};
  asm volatile("" : : "r"(&own) : "memory");
  std::_Exit(own.value() == 3 ? 3 : 4);
}

TEST_F(large_values_death, in_the_frame_of_a_submitted_function) {
  EXPECT_EXIT(nopal::submit(in_a_frame<1126400>).get(), died, of_fiber);
  EXPECT_EXIT(nopal::submit(in_a_frame<33000000>).get(), died, of_fiber);
  EXPECT_EXIT(nopal::run([] { nopal::spawn(in_a_frame<1126400>); }), died, of_fiber);
}

TEST_F(large_values_death, in_the_frame_of_a_child) {
  EXPECT_EXIT(nopal::invoke(in_a_frame<1126400>, [] {}), died, of_strand);
  EXPECT_EXIT(nopal::invoke(in_a_frame<33000000>, [] {}), died, of_strand);
}

TEST_F(large_values_death, as_what_a_child_returns) {
  const auto place = std::make_unique<element>();
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork(*place, seven);
        s.join();
      },
      died, of_strand);
}

// Before Nopal has a handler.
const bool sanitizer_handles_faults = [] {
  struct sigaction action{};
  sigaction(SIGSEGV, nullptr, &action);
  return action.sa_handler != SIG_DFL;
}();

TEST_F(large_values_death, on_a_threads_own_stack) {
  if (sanitizer_handles_faults)
    GTEST_SKIP() << "a sanitizer reports it";
  EXPECT_EXIT(
      {
        be_stolen(); // Nopal knows the thread then
        in_a_frame<33000000>();
      },
      died, of_thread);
}

} // namespace
} // namespace nopal_test
