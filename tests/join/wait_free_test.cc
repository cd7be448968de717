// SPDX-License-Identifier: MIT
// The join's arithmetic: for every order of events exactly one strand goes on, and only when all
// are finished.
#include "nopal/join/wait_free.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using nopal::join::wait_free;

TEST(wait_free, is_quiet_without_steals) {
  wait_free join;
  EXPECT_EQ(join.steals(), 0);
  EXPECT_TRUE(join.arrive());
}

TEST(wait_free, tells_the_last_child) {
  wait_free join;
  join.count_steal();
  join.count_steal();
  EXPECT_FALSE(join.last_child());
  EXPECT_FALSE(join.arrive());
  EXPECT_FALSE(join.last_child());
  EXPECT_FALSE(join.child_finished());
  EXPECT_TRUE(join.last_child());
  EXPECT_TRUE(join.child_finished());
}

// Plays all orders of the events of `children` stolen continuations. Steal i detaches child i; the
// child may finish before the thief counts the steal. The main path arrives after all steals are
// counted.
class explorer {
public:
  explicit explorer(int children) : children_{children} {}

  std::uint64_t explore() {
    visit({}, 0, 0, false);
    return orders_;
  }

private:
  // The events of one order: 's' a thief counts its steal, 'f' a child finishes, 'a' the arrival.
  void visit(std::vector<char> events, int counted, int finished, bool arrived) {
    if (arrived && finished == children_) {
      replay(events);
      return;
    }
    if (counted < children_)
      visit(followed_by(events, 's'), counted + 1, finished, arrived);
    // The continuation of child k+1 is forked by the strand that counted steal k: so at most one
    // child is ahead of the count.
    if (finished < children_ && finished < counted + 1)
      visit(followed_by(events, 'f'), counted, finished + 1, arrived);
    if (counted == children_ && !arrived)
      visit(followed_by(events, 'a'), counted, finished, true);
  }

  static std::vector<char> followed_by(std::vector<char> events, char next) {
    events.push_back(next);
    return events;
  }

  void replay(const std::vector<char>& events) {
    ++orders_;
    wait_free join;
    for (int round = 0; round < 2; ++round) { // a second time after reset
      for (std::size_t i = 0; i < events.size(); ++i) {
        const bool last = i + 1 == events.size();
        if (events[i] == 's')
          join.count_steal();
        else
          ASSERT_EQ(events[i] == 'f' ? join.child_finished() : join.arrive(), last)
              << std::string(events.begin(), events.end()) << " at " << i;
      }
      ASSERT_EQ(join.steals(), children_);
      join.reset();
      ASSERT_EQ(join.steals(), 0);
    }
  }

  int children_;
  std::uint64_t orders_ = 0;
};

TEST(wait_free, exactly_the_last_goes_on_in_every_order) {
  std::uint64_t orders = 0;
  for (int children = 1; children <= 7; ++children)
    orders += explorer(children).explore();
  EXPECT_GT(orders, 1000u);
}

TEST(wait_free, exactly_one_goes_on_among_threads) {
  constexpr int kChildren = 3;
  constexpr int kRounds = 20000;
  const auto joins = std::make_unique<wait_free[]>(kRounds);
  const auto winners = std::make_unique<std::atomic<int>[]>(kRounds);
  const auto written = std::make_unique<int[][kChildren]>(kRounds);
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kChildren; ++i)
      joins[static_cast<std::size_t>(round)].count_steal();
  const auto go_on = [&](std::size_t round) {
    winners[round] += 1;
    for (int i = 0; i < kChildren; ++i)
      ASSERT_EQ(written[round][i], i + 1) << "went on before a child was finished";
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kChildren; ++i)
    threads.emplace_back([&, i] {
      for (std::size_t round = 0; round < kRounds; ++round) {
        written[round][i] = i + 1;
        if (joins[round].child_finished())
          go_on(round);
      }
    });
  for (std::size_t round = 0; round < kRounds; ++round)
    if (joins[round].arrive())
      go_on(round);
  for (std::thread& thread : threads)
    thread.join();
  for (std::size_t round = 0; round < kRounds; ++round)
    ASSERT_EQ(winners[round].load(), 1);
}

} // namespace
} // namespace nopal_test
