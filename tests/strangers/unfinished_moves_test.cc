// SPDX-License-Identifier: MIT
// Algorithms that move elements and do not end: a comparison that threw once, or a cancel amid a
// sort, left every element of the range moved-from. All are there afterwards, in some order, also
// where there is no memory.
#include "nopal/cancel.h"
#include "nopal/filter.h"
#include "nopal/invoke.h"
#include "nopal/sort.h"
#include "tests/strangers/orders.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

namespace {
std::atomic<long> allocations_left{std::numeric_limits<long>::max()};
bool allowed() { return allocations_left.fetch_sub(1, std::memory_order_relaxed) > 0; }
void* memory_of(std::size_t size, std::size_t alignment) {
  void* made = nullptr;
  return allowed() && posix_memalign(&made, std::max(alignment, sizeof(void*)), size) == 0
             ? made
             : nullptr;
}
} // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* made = memory_of(size, 1))
    return made;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return memory_of(size, 1);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return memory_of(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, std::size_t) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, std::align_val_t) noexcept { std::free(made); }

namespace nopal_test {
namespace {

struct stopped : std::runtime_error {
  stopped() : std::runtime_error("the comparison") {}
};

// Asks for a key, and acts when so many questions have been asked.
template <class Act> struct watched {
  std::atomic<long>* left;
  const Act* act;

  template <class T> bool operator()(const T& x, const T& y) const {
    watch();
    return x.key < y.key;
  }
  template <class T> bool operator()(const T& x) const {
    watch();
    return static_cast<long>(x.key) % 2 == 0;
  }
  void watch() const {
    if (left->fetch_sub(1, std::memory_order_relaxed) == 0)
      (*act)();
  }
};

// run(all, function) ends early at one place after another, until it ends by itself.
template <class Container, class Run> void end_early_everywhere(std::size_t count, const Run& run) {
  using value = typename Container::value_type;
  for (long at = 0, ended = 0; ended < 2; at += 1 + at / 2) {
    SCOPED_TRACE(testing::Message() << count << " elements, at question " << at);
    std::atomic<long> left{at};
    Container all = elements<value, Container>(static_cast<int>(count));
    const auto throws = [] { throw stopped{}; };
    try {
      run(all, watched<decltype(throws)>{&left, &throws});
      ++ended;
    } catch (const stopped&) {
    }
    ASSERT_TRUE(all_there(all, count)) << "thrown";
    left = at;
    nopal::cancel_scope s;
    const auto cancels = [&s] { s.cancel(); };
    s.fork([&] { run(all, watched<decltype(cancels)>{&left, &cancels}); });
    static_cast<void>(s.try_join());
    ASSERT_TRUE(all_there(all, count)) << "cancelled";
  }
}

template <class Container> class unfinished_moves : public testing::Test {};
using containers = testing::Types<std::vector<record>, std::vector<name>, std::vector<owner>,
                                  std::deque<record>, std::deque<name>>;
TYPED_TEST_SUITE(unfinished_moves, containers);

TYPED_TEST(unfinished_moves, of_a_sort_lose_nothing) {
  for (const std::size_t count : {2u, 16u, 17u, 40u, 1000u, 1025u, 5000u, 20000u})
    end_early_everywhere<TypeParam>(
        count, [](auto& all, const auto& before) { nopal::sort(all, before); });
  end_early_everywhere<TypeParam>(
      9000, [](auto& all, const auto& before) { nopal::stable_sort(all, before); });
}

// Merges alone, level by level between two ranges: all are back in the first.
TYPED_TEST(unfinished_moves, of_merges_lose_nothing) {
  for (const bool to_other : {false, true})
    end_early_everywhere<TypeParam>(20000, [to_other](auto& all, const auto& before) {
      TypeParam other(all.size());
      nopal::algorithms::sort_between(nopal::algorithms::plain(all.begin()),
                                      nopal::algorithms::plain(other.begin()), all.size(), to_other,
                                      before);
      if (to_other)
        all = std::move(other);
    });
}

TYPED_TEST(unfinished_moves, of_filters_lose_nothing) {
  for (const std::size_t count : {3u, 100u, 5000u}) {
    end_early_everywhere<TypeParam>(
        count, [](auto& all, const auto& asked) { nopal::partition(all, asked); });
    end_early_everywhere<TypeParam>(
        count, [](auto& all, const auto& asked) { nopal::stable_partition(all, asked); });
    end_early_everywhere<TypeParam>(
        count, [](auto& all, const auto& asked) { nopal::remove_if(all, asked); });
    end_early_everywhere<TypeParam>(count, [](auto& all, const auto& same) {
      nopal::unique(all, [&same](const auto& x, const auto& y) { return same(x, y); });
    });
  }
}

// No function of the program's runs amid a sort of numbers: they are cancelled by a deadline.
template <class T>
void expect_all_at_a_deadline(const std::vector<T>& given, const std::vector<T>& sorted) {
  for (const int wait : {0, 50, 300, 1000, 3000, 9000, 30000}) {
    std::vector<T> all = given;
    nopal::cancel_scope s{std::chrono::microseconds(wait)};
    s.fork([&] { nopal::sort(all); });
    static_cast<void>(s.try_join());
    std::ranges::sort(all);
    ASSERT_TRUE(all == sorted) << "after " << wait;
  }
}
TEST(unfinished_sort, of_numbers_loses_nothing_at_a_deadline) {
  for (const int values : {1 << 30, 50}) {
    std::vector<int> all(400'000);
    std::mt19937 random(3);
    for (int& each : all)
      each = static_cast<int>(random()) % values;
    std::vector<int> sorted = all;
    std::ranges::sort(sorted);
    expect_all_at_a_deadline(std::vector<double>(all.begin(), all.end()),
                             std::vector<double>(sorted.begin(), sorted.end()));
    expect_all_at_a_deadline(all, sorted);
  }
}

// So many that they are distributed where they lie.
TEST(unfinished_sort, in_place_loses_nothing) {
  constexpr int count = (32 << 20) / sizeof(record) + 1000;
  const auto given = elements<record>(count);
  for (const long at : {1'000'000L, 2'097'000L, 18'000'000L, 30'000'000L}) {
    auto all = given;
    std::atomic<long> left{at};
    const auto throws = [] { throw stopped{}; };
    EXPECT_THROW(nopal::sort(all, watched<decltype(throws)>{&left, &throws}), stopped);
    EXPECT_TRUE(all_there(all, count)) << at;
    all = given;
    left = at;
    nopal::cancel_scope s;
    const auto cancels = [&s] { s.cancel(); };
    s.fork([&] { nopal::sort(all, watched<decltype(cancels)>{&left, &cancels}); });
    static_cast<void>(s.try_join());
    EXPECT_TRUE(all_there(all, count)) << at;
  }
}

TYPED_TEST(unfinished_moves, lose_nothing_without_memory) {
  nopal::invoke([] {}, [] {}); // the threads begin, for which there is to be memory
  for (const std::size_t count : {17u, 5000u, 20000u}) {
    const auto without_memory = [count](const auto& run) {
      for (long allowed = 0, ended = 0; ended == 0; ++allowed) {
        auto all = elements<typename TypeParam::value_type, TypeParam>(static_cast<int>(count));
        allocations_left = allowed;
        try {
          run(all);
          ended = allocations_left > 0 ? 1 : 0;
        } catch (const std::bad_alloc&) {
        }
        allocations_left = std::numeric_limits<long>::max();
        ASSERT_TRUE(all_there(all, count)) << allowed << " allocations for " << count;
      }
    };
    const auto before = [](const auto& x, const auto& y) { return x.key < y.key; };
    const auto even = [](const auto& x) { return static_cast<long>(x.key) % 2 == 0; };
    without_memory([&](auto& all) { nopal::sort(all, before); });
    without_memory([&](auto& all) { nopal::stable_partition(all, even); });
    without_memory([&](auto& all) { nopal::remove_if(all, even); });
  }
}

} // namespace
} // namespace nopal_test
