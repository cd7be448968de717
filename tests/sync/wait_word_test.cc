// SPDX-License-Identifier: MIT
// The word by which a canceller finds a strand that waits, and the counts that say whether any
// strand waits.
#include "nopal/sync/wait_word.h"

#include <gtest/gtest.h>

#include <thread>

namespace nopal_test {
namespace {

using namespace nopal::sync;

struct wait_words : testing::Test {
  wait_word word;
  alignas(8) int strand = 0;
};

TEST_F(wait_words, a_strand_is_held_only_once_it_was_published) {
  EXPECT_EQ(word.hold(), nullptr);
  word.begin(&strand);
  EXPECT_EQ(word.hold(), nullptr); // its vproc looks itself, after that
  word.publish(&strand);
  EXPECT_EQ(word.hold(), &strand);
  EXPECT_TRUE(word.let_go(&strand));
  word.end(&strand);
  EXPECT_EQ(word.hold(), nullptr);
}

TEST_F(wait_words, the_holder_looks_once_more_for_a_canceller_that_came_meanwhile) {
  word.begin(&strand);
  word.publish(&strand);
  ASSERT_EQ(word.hold(), &strand);
  EXPECT_EQ(word.hold(), nullptr); // of another canceller
  EXPECT_FALSE(word.let_go(&strand));
  EXPECT_TRUE(word.let_go(&strand));
  word.end(&strand);
}

TEST_F(wait_words, a_strand_that_need_not_wait_is_not_found) {
  word.begin(&strand);
  word.retract();
  EXPECT_EQ(word.hold(), nullptr);
  word.end(&strand); // comes back at once
}

TEST_F(wait_words, a_held_strand_does_not_go_on) {
  word.begin(&strand);
  word.publish(&strand);
  ASSERT_EQ(word.hold(), &strand);
  int written = 0;
  std::thread goes_on{[&] {
    word.end(&strand);
    EXPECT_EQ(written, 1);
  }};
  written = 1;
  EXPECT_TRUE(word.let_go(&strand));
  goes_on.join();
}

TEST(wait_counts, some_strand_waits_until_all_waits_have_ended) {
  wait_counts counts[2];
  const auto counts_of = [&](std::uint32_t i) -> const wait_counts& { return counts[i]; };
  EXPECT_FALSE(any_waits(2, counts_of));
  counts[0].begin();
  EXPECT_TRUE(any_waits(2, counts_of));
  counts[1].end(); // on another vproc
  EXPECT_FALSE(any_waits(2, counts_of));
}

} // namespace
} // namespace nopal_test
