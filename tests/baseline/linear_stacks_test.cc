// SPDX-License-Identifier: MIT
// Three strategies for stolen continuations (bench/baseline/linear_stacks.h), each compiled by
// itself: what a thief may take, and where it runs.
#include "bench/backend/linear_stacks.h"
#include "bench/problems/comparing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

namespace nopal_test {
namespace {

using namespace bench::linear_stacks;

// A tree of frames of the first worker, which runs nothing: parent, child and grandchild.
class linear_stacks : public testing::Test {
protected:
  void SetUp() override {
    workers.resize(2);
    before_ = std::exchange(nopal::arch::nopal_self, &workers.front());
    for (std::optional<scope>& each : line_)
      each.emplace();
  }
  void TearDown() override {
    for (std::size_t i = line_.size(); i-- > 0;)
      line_[i].reset();
    nopal::arch::nopal_self = before_;
    workers.clear();
  }

  // What the thief gets; it looks at itself half of the time.
  scope* taken_by(worker& thief) {
    scope* got = nullptr;
    for (int i = 0; i < 100 && got == nullptr; ++i)
      got = steal(thief);
    return got;
  }

  std::array<std::optional<scope>, 3> line_;

private:
  nopal::arch::runner* before_ = nullptr;
};

TEST_F(linear_stacks, each_frame_knows_its_parent_and_its_depth) {
  EXPECT_EQ(line_[0]->parent, nullptr);
  EXPECT_EQ(line_[2]->parent, &*line_[1]);
  EXPECT_EQ(line_[0]->depth, 0u);
  EXPECT_EQ(line_[2]->depth, 2u);
}

TEST_F(linear_stacks, a_thief_takes_the_oldest_and_counts_its_steal) {
  workers[0].forks = {&*line_[0], &*line_[1]};
  EXPECT_EQ(taken_by(workers[1]), &*line_[0]);
  EXPECT_EQ(line_[0]->children.steals(), 1);
  EXPECT_EQ(taken_by(workers[1]), &*line_[1]);
  EXPECT_EQ(taken_by(workers[1]), nullptr);
}

TEST_F(linear_stacks, only_a_restricted_thief_leaves_what_is_shallower_than_what_it_waits_with) {
  worker& thief = workers[1];
  thief.waiting = &*line_[1];
  workers[0].forks = {&*line_[0]};
  EXPECT_EQ(taken_by(thief) == nullptr, chosen == strategy::depth_restricted);
  workers[0].forks = {&*line_[1]};
  EXPECT_EQ(taken_by(thief), &*line_[1]);
  thief.waiting = nullptr;
  workers[0].forks = {&*line_[0]};
  EXPECT_EQ(taken_by(thief), &*line_[0]);
}

TEST_F(linear_stacks, a_stack_that_lies_idle_for_an_ancestor_is_claimed_once) {
  worker& thief = workers[1];
  scope& ancestor = *line_[1];
  stack* const place = stacks.take();
  ancestor.stack_pointer = place->top - 4096;
  EXPECT_FALSE(claim(thief, &ancestor)); // somebody runs there
  place->idle_for = &*line_[0];
  EXPECT_FALSE(claim(thief, &ancestor)); // it is another's
  place->idle_for = &ancestor;
  EXPECT_TRUE(claim(thief, &ancestor));
  EXPECT_EQ(thief.current_stack, place);
  EXPECT_FALSE(claim(workers[0], &ancestor));
  if (reuses) {
    EXPECT_EQ(thief.floor(), ancestor.stack_pointer);
    leave_empty(thief);
    EXPECT_EQ(place->idle_for, &ancestor);
    EXPECT_EQ(thief.current_stack, nullptr);
  }
  place->floors.clear();
  place->idle_for = nullptr;
  stacks.give(place);
}

TEST_F(linear_stacks, a_full_stack_is_not_claimed) {
  stack* const place = stacks.take();
  scope& ancestor = *line_[1];
  ancestor.stack_pointer = place->top - (std::size_t{15} << 20);
  place->idle_for = &ancestor;
  EXPECT_FALSE(claim(workers[1], &ancestor));
  place->idle_for = nullptr;
  stacks.give(place);
}

// Each level's child ends only after a thief has gone on with the level.
int levels_below(int levels) {
  if (levels == 0)
    return 0;
  int below = 0;
  std::atomic<bool> gone_on = false;
  std::atomic<bool>* const flag = &gone_on;
  scope s;
  s.fork([flag] {
    for (unsigned tries = 1; !*flag; ++tries)
      nopal::base::wait_briefly(tries);
  });
  *flag = true;
  below = levels_below(levels - 1);
  s.join();
  return below + 1;
}

TEST(linear_stacks_program, each_level_is_stolen) {
  for (const unsigned count : {2u, 3u, 7u}) {
    bench::runtime all(count);
    int levels = 0;
    for (int i = 0; i < 20; ++i) {
      all.run([&levels] { levels = levels_below(30); });
      EXPECT_EQ(levels, 30);
    }
    EXPECT_GE(*all.read_counters().steals, 20u * 30);
  }
}

TEST(linear_stacks_program, a_worker_has_one_stack_unless_it_reuses_others) {
  const std::size_t before = stacks.number();
  bench::runtime all(3);
  all.run([] { levels_below(100); });
  EXPECT_TRUE(reuses || stacks.number() - before <= 3);
  EXPECT_GE(*all.read_counters().stack_pages, 2u);
}

TEST(linear_stacks_program, qsort_calls_what_forks) {
  for (const unsigned count : {1u, 3u}) {
    bench::comparing_problem problem(bench::size::test);
    problem.prepare();
    bench::runtime all(count);
    all.run([&problem] { problem.compute(); });
    EXPECT_TRUE(problem.verify());
    EXPECT_EQ(*all.read_counters().steals > 0, count > 1);
  }
}

} // namespace
} // namespace nopal_test
