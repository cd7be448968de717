// SPDX-License-Identifier: MIT
// Comparisons that are no order: one NaN among records made sorts lose and double them. Whatever a
// comparison answers, what moves elements loses none, what keeps some of them doubles none, nothing
// is read or written outside of the range, and all end.
#include "nopal/filter.h"
#include "nopal/sort.h"
#include "tests/strangers/orders.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <vector>

namespace nopal_test {
namespace {

template <class Container> class bad_order : public testing::Test {};
using containers = testing::Types<std::vector<double>, std::vector<record>, std::vector<name>,
                                  std::vector<owner>, std::deque<record>, std::deque<name>>;
TYPED_TEST_SUITE(bad_order, containers);

constexpr int counts[] = {2, 16, 17, 33, 100, 1000, 1025, 4097, 20000};

template <class Container, class Check> void for_each_order(const Check& check) {
  using value = typename Container::value_type;
  for (const int count : counts)
    for (const answers how : all_answers) {
      SCOPED_TRACE(testing::Message() << count << " elements, answers " << static_cast<int>(how));
      Container all = elements<value, Container>(count);
      put_nan_into<value>(all);
      check(all, hostile{how});
    }
}

TYPED_TEST(bad_order, sorts_lose_nothing) {
  for_each_order<TypeParam>([](auto& all, hostile before) {
    const std::size_t count = all.size();
    nopal::sort(all, before);
    EXPECT_TRUE(all_there(all, count));
    std::ranges::reverse(all);
    nopal::stable_sort(all, before);
    EXPECT_TRUE(all_there(all, count));
  });
}

TYPED_TEST(bad_order, partitions_lose_nothing) {
  for_each_order<TypeParam>([](auto& all, hostile before) {
    const auto wanted = [&](const auto& x) { return before(x, x); };
    const std::size_t count = all.size();
    nopal::partition(all, wanted);
    EXPECT_TRUE(all_there(all, count));
    nopal::stable_partition(all, wanted);
    EXPECT_TRUE(all_there(all, count));
  });
}

TYPED_TEST(bad_order, filters_double_nothing) {
  for_each_order<TypeParam>([](auto& all, hostile before) {
    const auto end = nopal::remove_if(all, [&](const auto& x) { return before(x, x); });
    EXPECT_TRUE(none_twice(all.begin(), end, all.size()));
  });
  for_each_order<TypeParam>([](auto& all, hostile before) {
    const auto first = all.begin();
    const auto same = [&](const auto& x, const auto& y) { return before(x, y); };
    const auto end = nopal::unique(first, all.end(), same);
    EXPECT_TRUE(none_twice(first, end, all.size()));
  });
}

template <class T> class bad_order_copies : public testing::Test {};
using copied_types = testing::Types<record, name>;
TYPED_TEST_SUITE(bad_order_copies, copied_types);

TYPED_TEST(bad_order_copies, lose_and_double_nothing) {
  using container = std::vector<TypeParam>;
  for_each_order<container>([](auto& all, hostile before) {
    const auto third = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 3);
    container out(all.size());
    const auto end = nopal::merge(all.begin(), third, third, all.end(), out.begin(), before);
    EXPECT_TRUE(end == out.end() && all_there(out, all.size()));
    out.assign(all.size(), TypeParam{});
    const auto last = nopal::unique_copy(all, out.begin(), before);
    EXPECT_TRUE(none_twice(out.begin(), last, all.size()));
    out.assign(all.size(), TypeParam{});
    const auto kept = nopal::copy_if(all, out.begin(), [](const auto&) { return coin(); });
    EXPECT_TRUE(none_twice(out.begin(), kept, all.size()));
  });
}

// So many that they are distributed where they lie.
TEST(bad_order_in_place, loses_nothing) {
  constexpr int count = (32 << 20) / sizeof(record) + 1000;
  const auto given = elements<record>(count);
  for (const answers how : {answers::by_key, answers::random, answers::always, answers::hashed}) {
    auto all = given;
    put_nan_into<record>(all);
    nopal::sort(all, hostile{how});
    EXPECT_TRUE(all_there(all, given.size())) << static_cast<int>(how);
  }
}

} // namespace
} // namespace nopal_test
