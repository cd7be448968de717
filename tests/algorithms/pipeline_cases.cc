// SPDX-License-Identifier: MIT
// Pipelines: each item goes through all stages, and each stage keeps its order and its number of
// items, whatever is stolen.
#include "nopal/loop.h"
#include "nopal/pipeline.h"
#include "tests/algorithms/support.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/cancel.h"
#include "nopal/fiber.h"
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

// A source of 0, 1, 2, ..., and how many of them have begun.
auto numbers_below(int count, int& next) {
  return [count, &next] { return next < count ? std::optional<int>{next++} : std::nullopt; };
}

TEST(pipeline, does_what_a_loop_does) {
  for (const std::size_t size : sizes()) {
    const std::size_t in_flight = std::array<std::size_t, 3>{1, 2, 7}[size % 3];
    const int count =
        static_cast<int>(std::min(size, std::size_t{steals_forced() ? 200u : 20000u}));
    int next = 0;
    int seen = 0;
    std::vector<std::string> out;
    nopal::pipeline(
        in_flight, numbers_below(count, next), nopal::parallel_stage([](int i) { return 3L * i; }),
        nopal::ordered_stage([&seen](long i) { return std::pair{seen++, i}; }),
        nopal::parallel_stage([](const std::pair<int, long>& each) {
          return std::to_string(each.first) + ' ' + std::to_string(each.second);
        }),
        nopal::ordered_stage([&out](std::string each) { out.push_back(std::move(each)); }));
    ASSERT_EQ(out.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(out[static_cast<std::size_t>(i)], std::to_string(i) + ' ' + std::to_string(3 * i));
  }
}

// Counts who is within, and how many there were at most.
class crowd {
public:
  void enter() {
    enter_at_once();
    std::this_thread::yield(); // others may come
  }
  void enter_at_once() {
    const int now = within_.fetch_add(1) + 1;
    for (int seen = most_; now > seen && !most_.compare_exchange_weak(seen, now);) {
    }
  }
  void leave() { within_.fetch_sub(1); }
  int most() const { return most_; }

private:
  std::atomic<int> within_{0};
  std::atomic<int> most_{0};
};

TEST(pipeline, has_no_more_items_in_flight_than_it_may) {
  const int count = steals_forced() ? 50 : 3000;
  for (const int in_flight : {1, 2, 3, 16}) {
    crowd all;
    crowd ordered;
    crowd unordered;
    int next = 0;
    long sum_unordered = 0;
    long sum_ordered = 0;
    const auto source = numbers_below(count, next);
    nopal::pipeline(
        static_cast<std::size_t>(in_flight),
        [&] {
          all.enter_at_once();
          const std::optional<int> item = source();
          if (!item)
            all.leave();
          return item;
        },
        nopal::unordered_stage([&](int i) {
          unordered.enter();
          sum_unordered += i;
          unordered.leave();
          return i;
        }),
        nopal::parallel_stage([](int i) { return i; }), nopal::ordered_stage([&](int i) {
          ordered.enter();
          sum_ordered += i;
          ordered.leave();
          return i;
        }),
        nopal::unordered_stage([&](int) { all.leave(); }));
    EXPECT_EQ(sum_unordered, long{count} * (count - 1) / 2);
    EXPECT_EQ(sum_ordered, long{count} * (count - 1) / 2);
    EXPECT_LE(all.most(), in_flight);
    EXPECT_EQ(ordered.most(), 1);
    EXPECT_EQ(unordered.most(), 1);
  }
}

TEST(pipeline, moves_its_items) {
  for (const int count : {0, 1, 2, 100, 2000}) {
    if (steals_forced() && count > 100)
      continue;
    int next = 0;
    std::vector<int> keys;
    nopal::pipeline(
        5,
        [&]() -> std::optional<owner> {
          return next < count ? std::optional<owner>{owner{next++}} : std::nullopt;
        },
        nopal::parallel_stage([](owner item) { return std::make_unique<owner>(std::move(item)); }),
        nopal::unordered_stage([](std::unique_ptr<owner> item) { return item; }),
        nopal::ordered_stage([&](std::unique_ptr<owner>&& item) { keys.push_back(item->key()); }));
    ASSERT_EQ(keys.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(std::ranges::is_sorted(keys));
    ASSERT_EQ(owner::alive(), 0);
  }
}

struct failed {
  int item;
};

// Which item fails first, where several do, in a stage of this kind or (3) in the source.
int first_failure(int count, int period, int place, int in_flight) {
  int next = 0;
  const auto fail = [period, place](int item, int here) {
    if (here == place && item % period == period - 1)
      throw failed{item};
  };
  try {
    nopal::pipeline(
        static_cast<std::size_t>(in_flight),
        [&]() -> std::optional<owner> {
          if (next == count)
            return std::nullopt;
          fail(next, 3);
          return owner{next++};
        },
        nopal::parallel_stage([&fail](owner item) {
          fail(item.key(), 0);
          return item;
        }),
        nopal::ordered_stage([&fail](owner item) {
          fail(item.key(), 1);
          return item;
        }),
        nopal::unordered_stage([&fail](owner item) {
          fail(item.key(), 2);
          return item;
        }),
        nopal::ordered_stage([](owner) {}));
  } catch (const failed& which) {
    return which.item;
  }
  return -1;
}

TEST(pipeline, throws_what_the_first_item_throws) {
  for (const int place : {0, 1, 2, 3})
    for (const int in_flight : {1, 3, 16})
      for (const int period : {1, 2, 30, 99, 101}) {
        EXPECT_EQ(first_failure(100, period, place, in_flight), period <= 100 ? period - 1 : -1)
            << place << ' ' << in_flight;
        ASSERT_EQ(owner::alive(), 0);
      }
}

TEST(pipeline, has_stages_that_fork) {
  const int count = steals_forced() ? 20 : 300;
  int next = 0;
  long sum = 0;
  nopal::pipeline(4, numbers_below(count, next), nopal::parallel_stage([](int i) {
                    return nopal::reduce(0, i, 0L, std::plus<>{}, [](int k) { return long{k}; });
                  }),
                  nopal::ordered_stage([&sum](long each) {
                    nopal::for_index(0, 2, [](int) {}, 1);
                    sum += each;
                  }));
  long expected = 0;
  for (int i = 0; i < count; ++i)
    expected += long{i} * (i - 1) / 2;
  EXPECT_EQ(sum, expected);
}

TEST(pipeline, is_a_stage_of_another) {
  const int count = steals_forced() ? 10 : 100;
  int next = 0;
  std::vector<int> sizes_of;
  nopal::pipeline(3, numbers_below(count, next), nopal::parallel_stage([](int size) {
                    int inner_next = 0;
                    int inner_seen = 0;
                    nopal::pipeline(2, numbers_below(size, inner_next),
                                    nopal::parallel_stage([](int i) { return i; }),
                                    nopal::ordered_stage([&inner_seen](int i) {
                                      if (i == inner_seen)
                                        ++inner_seen;
                                    }));
                    return inner_seen;
                  }),
                  nopal::ordered_stage([&sizes_of](int each) { sizes_of.push_back(each); }));
  std::vector<int> expected(static_cast<std::size_t>(count));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(sizes_of, expected);
}

TEST(pipeline, draws_from_pointers) {
  const std::vector<int> all = numbers(500);
  std::size_t next = 0;
  std::vector<int> out;
  auto write = nopal::ordered_stage([&out](int each) { out.push_back(each); });
  nopal::pipeline(8, [&] { return next < all.size() ? &all[next++] : nullptr; }, write);
  EXPECT_EQ(out, all);
}

#if !defined(NOPAL_SERIAL)
TEST(pipeline, is_cancelled) {
  std::atomic<int> calls{0};
  nopal::cancel_scope s;
  s.fork([&] {
    nopal::pipeline(
        4, []() -> std::optional<int> { return 1; }, // never dry
        nopal::parallel_stage([&](int i) {
          if (calls.fetch_add(1) == 100)
            s.cancel();
          return i;
        }),
        nopal::ordered_stage([](int) {}));
  });
  EXPECT_FALSE(s.try_join());
}

TEST(pipeline, of_fibers) {
  std::atomic<long> sum{0};
  nopal::run([&sum] {
    for (int fiber = 0; fiber < 3; ++fiber)
      nopal::spawn([&sum] {
        int next = 0;
        nopal::pipeline(4, numbers_below(50, next), nopal::ordered_stage([](int i) { return i; }),
                        nopal::unordered_stage([&sum](int i) { sum += i; }));
      });
  });
  EXPECT_EQ(sum, 3 * 49 * 50 / 2);
}
#endif

} // namespace
} // namespace nopal_test
