// SPDX-License-Identifier: MIT
// Elements that are values end with the expression that reads them, but a map, a projection or an
// alternative may return a reference into them. transform_reduce added up what lay in dead ones:
// of views, of std::vector<bool>, and by way of a pointer to a member.
#include "nopal/algorithm.h"
#include "nopal/either.h"
#include "tests/api/start.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

namespace {

const nopal_test::start this_program{2};

constexpr int count = 1000;
constexpr int sum = count * (count - 1) / 2;

struct item {
  std::string text;
  int number;
  bool small;
  std::unique_ptr<int> owned{};
};
// On the heap, so that a sanitizer sees what is read too late.
std::string long_text(int i) {
  return "a text that is too long to lie in its object " + std::to_string(i);
}
const auto numbers = std::views::iota(0, count);
const auto texts = numbers | std::views::transform(long_text);
const auto items = numbers | std::views::transform([](int i) {
                     return item{long_text(i), i, i < 600, std::make_unique<int>(i)};
                   });
std::string all_texts() {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += long_text(i);
  return all;
}

TEST(ranges_of_values, are_reduced_by_the_map_that_is_the_default) {
  EXPECT_EQ(nopal::transform_reduce(numbers, 0), sum);
  EXPECT_EQ(nopal::transform_reduce(numbers, 0L), sum);
  EXPECT_EQ(nopal::transform_reduce(texts, std::string()), all_texts());
  EXPECT_EQ(nopal::transform_reduce(std::vector<bool>(count, true), 0), count);
  EXPECT_EQ(nopal::reduce(0, count, 0, std::plus<>{}, std::identity{}), sum);
}

TEST(ranges_of_values, are_reduced_by_maps_that_return_references) {
  const auto same = [](const auto& x) -> const auto& { return x; };
  EXPECT_EQ(nopal::transform_reduce(numbers, 0, std::plus<>{}, same), sum);
  EXPECT_EQ(nopal::transform_reduce(texts, std::string(), std::plus<>{}, same), all_texts());
  EXPECT_EQ(nopal::transform_reduce(items, 0, std::plus<>{}, &item::number), sum);
  EXPECT_EQ(nopal::transform_reduce(items, std::string(), std::plus<>{}, &item::text), all_texts());
  const auto owned = [](const item& x) -> const std::unique_ptr<int>& { return x.owned; };
  EXPECT_EQ(nopal::count_if(items, [](const auto& x) { return *x % 2 == 0; }, owned), count / 2);
}

TEST(ranges_of_values, stop_a_loop_by_what_they_hold) {
  EXPECT_EQ(nopal::for_each_while(items, &item::small) - items.begin(), 600);
  const auto below = numbers | std::views::transform([](int i) { return i < 700; });
  EXPECT_EQ(nopal::for_each_while(below, std::identity{}) - below.begin(), 700);
  EXPECT_EQ(nopal::for_each_while(below, std::identity{}, 16) - below.begin(), 700);
  EXPECT_TRUE(nopal::any_of(items, std::identity{}, &item::small));
}

TEST(ranges_of_values, are_alternatives_that_answer_with_a_part_of_theirs) {
  const auto one = texts | std::views::take(1);
  EXPECT_EQ(nopal::either(one, std::identity{}), long_text(0));
  EXPECT_EQ(nopal::either(items | std::views::take(1), &item::text), long_text(0));
}

} // namespace
