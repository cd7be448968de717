// SPDX-License-Identifier: MIT
// Offers at a meeting place: the oldest is taken, stale ones are passed over, and what a strand
// does not want any more is withdrawn.
#include "nopal/sync/rendezvous.h"

#include "waiter.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using namespace nopal::sync;
constexpr auto sending = side::sending;
constexpr auto receiving = side::receiving;

struct meeting : testing::Test {
  rendezvous<waiter> place;
  offer<waiter> a, b, c;
  choice wanted;

  void publish(side on, offer<waiter>& made) {
    const nopal::base::locked guard{place.lock()};
    place.publish(on, &made);
  }
  bool awaited(side on) {
    const nopal::base::locked guard{place.lock()};
    return place.awaited(on);
  }
};

TEST_F(meeting, the_oldest_offer_of_the_side_is_taken) {
  EXPECT_EQ(place.take(sending), nullptr);
  publish(sending, a);
  publish(sending, b);
  EXPECT_EQ(place.take(receiving), nullptr);
  EXPECT_TRUE(awaited(sending));
  EXPECT_EQ(place.take(sending), &a);
  EXPECT_EQ(place.take(sending), &b);
  EXPECT_TRUE(place.empty(sending));
}

TEST_F(meeting, offers_of_a_choice_are_stale_once_one_of_them_was_taken) {
  a.shared = &wanted;
  a.number = 0;
  b.shared = &wanted;
  b.number = 1;
  publish(receiving, a);
  publish(receiving, b);
  publish(receiving, c);
  EXPECT_EQ(place.take(receiving), &a);
  EXPECT_EQ(wanted.taken(), 0u);
  EXPECT_EQ(place.take(receiving), &c);
  EXPECT_FALSE(b.queued); // it was removed on the way
}

TEST_F(meeting, nobody_is_awaited_where_all_offers_are_stale) {
  a.shared = &wanted;
  publish(sending, a);
  wanted.claim(choice::cancelled);
  EXPECT_FALSE(awaited(sending));
  EXPECT_TRUE(place.empty(sending));
  place.withdraw(sending, &a); // it is gone already
}

TEST_F(meeting, an_offer_is_withdrawn_from_anywhere) {
  for (auto* each : {&a, &b, &c})
    publish(sending, *each);
  place.withdraw(sending, &b);
  place.withdraw(sending, &c);
  EXPECT_EQ(place.take(sending), &a);
  EXPECT_EQ(place.take(sending), nullptr);
}

} // namespace
} // namespace nopal_test
