// SPDX-License-Identifier: MIT
// Comparisons that are no order, in the standard's parallel algorithms: one NaN among records made
// std::sort(par) lose and double records. Whatever the functions answer, what moves elements loses
// none, and what keeps some of them invents and doubles none.
#include "nopal/config.h"
#include "tests/strangers/orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <execution>
#include <vector>

namespace nopal_test {
namespace {

template <class T> class std_bad_order : public testing::Test {};
using element_types = testing::Types<record, name>;
TYPED_TEST_SUITE(std_bad_order, element_types);

template <class T, class Check> void for_each_order(const Check& check) {
  for (const int count : {2, 17, 33, 500, 1025, 3000, 20000})
    for (const answers how : all_answers) {
      SCOPED_TRACE(testing::Message() << count << " elements, answers " << static_cast<int>(how));
      std::vector<T> given = elements<T>(count);
      put_nan_into<T>(given);
      check(given, hostile{how});
    }
}

TYPED_TEST(std_bad_order, sorts_lose_nothing) {
  const auto& par = std::execution::par;
  for_each_order<TypeParam>([&](const auto& given, hostile before) {
    auto all = given;
    std::sort(par, all.begin(), all.end(), before);
    EXPECT_TRUE(all_there(all, given.size()));
    all = given;
    std::stable_sort(par, all.begin(), all.end(), before);
    EXPECT_TRUE(all_there(all, given.size()));
  });
}

TYPED_TEST(std_bad_order, partial_sorts_lose_and_double_nothing) {
  const auto& par = std::execution::par;
  for_each_order<TypeParam>([&](const auto& given, hostile before) {
    for (const std::size_t wanted : {given.size() / 50, given.size() / 2, given.size()}) {
      auto all = given;
      const auto first = static_cast<std::ptrdiff_t>(wanted);
      std::partial_sort(par, all.begin(), all.begin() + first, all.end(), before);
      EXPECT_TRUE(all_there(all, given.size())) << wanted;
      std::vector<TypeParam> some(wanted);
      const auto end =
          std::partial_sort_copy(par, given.begin(), given.end(), some.begin(), some.end(), before);
      EXPECT_TRUE(end == some.end() && none_twice(some.begin(), end, given.size())) << wanted;
      all = given;
      std::nth_element(par, all.begin(), all.begin() + first, all.end(), before);
      EXPECT_TRUE(all_there(all, given.size())) << wanted;
    }
  });
}

TYPED_TEST(std_bad_order, merges_and_partitions_lose_nothing) {
  const auto& par = std::execution::par;
  for_each_order<TypeParam>([&](const auto& given, hostile before) {
    const auto third = static_cast<std::ptrdiff_t>(given.size() / 3);
    std::vector<TypeParam> all(given.size());
    std::merge(par, given.begin(), given.begin() + third, given.begin() + third, given.end(),
               all.begin(), before);
    EXPECT_TRUE(all_there(all, given.size()));
    all = given;
    std::inplace_merge(par, all.begin(), all.begin() + third, all.end(), before);
    EXPECT_TRUE(all_there(all, given.size()));
    const auto wanted = [&](const TypeParam& x) { return before(x, given.front()); };
    std::partition(par, all.begin(), all.end(), wanted);
    EXPECT_TRUE(all_there(all, given.size()));
    std::stable_partition(par, all.begin(), all.end(), wanted);
    EXPECT_TRUE(all_there(all, given.size()));
  });
}

TYPED_TEST(std_bad_order, filters_double_nothing) {
  const auto& par = std::execution::par;
  for_each_order<TypeParam>([&](const auto& given, hostile before) {
    auto all = given;
    const auto end = std::unique(par, all.begin(), all.end(), before);
    EXPECT_TRUE(none_twice(all.begin(), end, given.size()));
    all = given;
    const auto removed = [&](const TypeParam& x) { return before(x, given.front()); };
    const auto rest = std::remove_if(par, all.begin(), all.end(), removed);
    EXPECT_TRUE(none_twice(all.begin(), rest, given.size()));
    std::vector<TypeParam> kept(given.size());
    const auto last = std::unique_copy(par, given.begin(), given.end(), kept.begin(), before);
    EXPECT_TRUE(none_twice(kept.begin(), last, given.size()));
  });
}

TYPED_TEST(std_bad_order, sets_double_nothing) {
  const auto& par = std::execution::par;
  for_each_order<TypeParam>([&](const auto& given, hostile before) {
    const auto others =
        elements<TypeParam>(static_cast<int>(given.size() / 2), static_cast<int>(given.size()));
    const std::size_t size = given.size() + others.size();
    const auto check = [&](const auto& set) {
      std::vector<TypeParam> out(2 * size);
      const auto end =
          set(par, given.begin(), given.end(), others.begin(), others.end(), out.begin(), before);
      EXPECT_TRUE(none_twice(out.begin(), end, size));
    };
    std::includes(par, given.begin(), given.end(), others.begin(), others.end(), before);
    check([](auto&&... with) { return std::set_union(with...); });
    check([](auto&&... with) { return std::set_intersection(with...); });
    check([](auto&&... with) { return std::set_difference(with...); });
    check([](auto&&... with) { return std::set_symmetric_difference(with...); });
  });
}

} // namespace
} // namespace nopal_test
