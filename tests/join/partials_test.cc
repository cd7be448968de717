// SPDX-License-Identifier: MIT
// Tables of partial values: found by their reducers' names, and put together in order.
#include "nopal/join/partials.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace nopal::join;

int alive = 0;

void combine(void* low, void* high) noexcept {
  *static_cast<std::string*>(low) += *static_cast<std::string*>(high);
}
void destroy(void* value) noexcept {
  --alive;
  delete static_cast<std::string*>(value);
}
constexpr partial_calls calls{combine, destroy};

void put(partials*& in, reducer_name name, const char* text) {
  ++alive;
  partials::put(in, name, new std::string{text});
}
std::string text_of(partials* in, reducer_name name) {
  const void* const found = in == nullptr ? nullptr : in->find(name);
  return found == nullptr ? "-" : *static_cast<const std::string*>(found);
}

struct names {
  explicit names(int number) {
    for (int i = 0; i < number; ++i)
      all.push_back(take_reducer_name(calls, nullptr));
  }
  ~names() {
    for (const reducer_name each : all)
      return_reducer_name(each);
  }
  reducer_name operator[](int i) const { return all[static_cast<std::size_t>(i)]; }
  std::vector<reducer_name> all;
};

// They are delivered, and what was delivered is destroyed.
void destroy_all(partials*& some, const names& own) {
  partials::deliver_all(some);
  for (const reducer_name each : own.all)
    if (void* const value = each.home->take_delivered())
      destroy(value);
}

TEST(partials, are_found_by_their_names) {
  const names own{9};
  partials* some = nullptr;
  put(some, own[8], "late");
  put(some, own[0], "first");
  EXPECT_EQ(text_of(some, own[8]), "late");
  EXPECT_EQ(text_of(some, own[0]), "first");
  EXPECT_EQ(text_of(some, own[4]), "-");
  destroy(partials::take(some, own[8]));
  EXPECT_EQ(text_of(some, own[8]), "-");
  EXPECT_EQ(partials::take(some, own[8]), nullptr);
  EXPECT_EQ(partials::take(nullptr, own[0]), nullptr);
  destroy_all(some, own);
  EXPECT_EQ(alive, 0);
}

TEST(partials, of_a_reducer_that_has_ended_are_not_those_of_the_next) {
  partials* some = nullptr;
  reducer_name before{};
  {
    const names one{1};
    before = one[0];
    put(some, before, "left behind");
  }
  const names next{1};
  EXPECT_EQ(next[0].index, before.index) << "places are used again";
  EXPECT_NE(next[0].home, before.home) << "and names are not";
  EXPECT_EQ(text_of(some, next[0]), "-");
  put(some, next[0], "new");
  EXPECT_EQ(alive, 1) << "what was left behind is destroyed";
  EXPECT_EQ(text_of(some, next[0]), "new");
  partials::deliver_all(some);
}

TEST(partials, combine_in_order_whichever_has_more_room) {
  const names own{12};
  for (const bool large_first : {true, false}) {
    partials* low = nullptr;
    partials* high = nullptr;
    put(low, own[1], "a");
    put(high, own[1], "b");
    put(high, own[2], "only high");
    put(low, own[3], "only low");
    put(large_first ? low : high, own[11], "large");
    partials* all = partials::combine(low, high);
    EXPECT_EQ(text_of(all, own[1]), "ab");
    EXPECT_EQ(text_of(all, own[2]), "only high");
    EXPECT_EQ(text_of(all, own[3]), "only low");
    EXPECT_EQ(text_of(all, own[11]), "large");
    EXPECT_EQ(alive, 4);
    destroy_all(all, own);
    EXPECT_EQ(alive, 0);
  }
}

TEST(partials, of_nothing_are_those_of_the_other) {
  const names own{1};
  partials* some = nullptr;
  put(some, own[0], "x");
  EXPECT_EQ(partials::combine(some, nullptr), some);
  EXPECT_EQ(partials::combine(nullptr, some), some);
  EXPECT_EQ(partials::combine(nullptr, nullptr), nullptr);
  partials::deliver_all(some);
}

TEST(partials, that_are_delivered_are_their_reducers_in_order) {
  const int here = 0;
  names own{3};
  own.all.push_back(take_reducer_name(calls, &here));
  partials* some = nullptr;
  put(some, own[0], "a");
  put(some, own[1], "x");
  put(some, own[3], "here");
  EXPECT_FALSE(own[0].home->alone());
  partials::deliver(some, &here);
  EXPECT_EQ(text_of(some, own[3]), "-");
  EXPECT_EQ(text_of(some, own[0]), "a");
  partials::deliver_all(some);
  EXPECT_EQ(some, nullptr);
  put(some, own[0], "b");
  partials::deliver_all(some);
  for (const auto& [which, expected] : {std::pair{0, "ab"}, {1, "x"}, {3, "here"}}) {
    void* const all = own[which].home->take_delivered();
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(*static_cast<std::string*>(all), expected);
    destroy(all);
    EXPECT_TRUE(own[which].home->alone());
  }
  EXPECT_EQ(own[2].home->take_delivered(), nullptr);
  EXPECT_EQ(alive, 0);
}

TEST(partials, that_are_delivered_to_a_reducer_that_has_ended_are_destroyed) {
  partials* some = nullptr;
  partials* other = nullptr;
  {
    const names one{1};
    put(some, one[0], "late");
    put(other, one[0], "early");
    partials::deliver_all(other);
  }
  EXPECT_EQ(alive, 1);
  partials::deliver_all(some);
  EXPECT_EQ(alive, 0);
}

TEST(partials_list, gives_all_in_their_order_and_equal_ones_as_they_came) {
  const names own{1};
  partials_list list;
  EXPECT_EQ(list.take(), nullptr);
  const std::pair<const char*, int> added[] = {{"c", 1}, {"e", 7}, {"a", 0}, {"d", 1}, {"b", 0}};
  for (const auto& [text, order] : added) {
    partials* some = nullptr;
    put(some, own[0], text);
    list.add(some, order);
    EXPECT_EQ(some, nullptr) << "the list has it";
    list.add(some, order); // nothing
  }
  partials* all = list.take();
  EXPECT_EQ(text_of(all, own[0]), "abcde");
  EXPECT_EQ(list.take(), nullptr);
  destroy_all(all, own);
  EXPECT_EQ(alive, 0);
}

} // namespace
