// SPDX-License-Identifier: MIT
// The budget: how much a stack is charged, which thread gives pages back and when, and that no page
// is given back under a strand. A census counts the dead pages beside what is charged.
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/random.h"
#include "nopal/stack/stack.h"
#include "tools/census.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

namespace stack = nopal::stack;
using stack::handoff;
using stack::stack_id;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 64; // of a stack
constexpr std::size_t kBudget = 4 * kPages;
// Up to three quarters of the budget, stacks are charged a bound: so three stacks, of which little
// is live. Above a half, idle workers give pages back.

class budget : public testing::Test {
protected:
  static void SetUpTestSuite() {
    static std::once_flag once;
    std::call_once(once, [] { stack::open(kPages * kPage, kBudget * kPage, 1); });
  }
  void SetUp() override {
    census::start();
    before_ = stack::measure();
  }
  void TearDown() override {
    census::start();
    for (const stack_id each : retired_)
      EXPECT_TRUE(stack::reuse(each, {}));
    EXPECT_EQ(stack::measure().charged_pages, 0u) << "all stacks are in use";
    EXPECT_LE(census::dead.most(), kBudget);
  }

  static std::uintptr_t frame(stack_id id) { return stack::top(id) - 100; }
  static std::uintptr_t deepest(stack_id id) { return stack::bottom(id); }
  static char& at(std::uintptr_t address) { return *reinterpret_cast<char*>(address); }

  // Leaves a stack with one page of frames, `dead` dead pages and no others.
  stack_id left_behind(std::size_t dead) { return leave(stack::acquire(), dead); }
  stack_id leave(stack_id id, std::size_t dead) {
    nopal::base::discard(reinterpret_cast<void*>(stack::bottom(id)), kPages * kPage);
    const std::size_t bytes = (dead + 1) * kPage;
    std::memset(reinterpret_cast<void*>(stack::top(id) - bytes), 7, bytes);
    stack::retire(id, frame(id));
    retired_.push_back(id);
    return id;
  }
  void go_on(stack_id id) {
    std::erase(retired_, id);
    EXPECT_TRUE(stack::reuse(id, {}));
    EXPECT_EQ(at(frame(id)), 7);
  }
  void reclaim_all() {
    handoff none;
    for (int i = 0; i < 100; ++i)
      EXPECT_FALSE(stack::reclaim(none));
  }

  std::size_t charged() const { return stack::measure().charged_pages; }
  std::uint64_t returned() const {
    return stack::measure().pages_returned - before_.pages_returned;
  }
  std::uint64_t counts() const { return stack::measure().counts - before_.counts; }

  stack::usage before_{};
  std::vector<stack_id> retired_;
};

TEST_F(budget, below_three_quarters_the_kernel_is_not_asked) {
  const stack_id a = left_behind(20);
  left_behind(0);
  left_behind(kPages - 1);
  EXPECT_EQ(charged(), 3 * (kPages - 1)) << "bounds";
  EXPECT_EQ(counts(), 0u);
  EXPECT_EQ(returned(), 0u);
  EXPECT_EQ(at(stack::top(a) - 20 * kPage), 7) << "kept";
  go_on(a);
  EXPECT_EQ(charged(), 2 * (kPages - 1));
}

TEST_F(budget, above_three_quarters_pages_are_counted_and_kept) {
  for (int i = 0; i < 3; ++i)
    left_behind(1);
  const stack_id counted = left_behind(30);
  EXPECT_EQ(charged(), 3 * (kPages - 1) + 30);
  EXPECT_EQ(counts(), 1u);
  EXPECT_EQ(returned(), 0u);
  EXPECT_EQ(at(stack::top(counted) - 30 * kPage), 7);
}

TEST_F(budget, above_the_budget_whoever_leaves_gives_its_own_pages_back) {
  for (int i = 0; i < 3; ++i)
    left_behind(1);
  left_behind(kPages - 1);
  const std::size_t full = charged();
  EXPECT_GT(full + 10, kBudget);
  const stack_id given = left_behind(10);
  EXPECT_EQ(charged(), full);
  EXPECT_EQ(returned(), 10u);
  EXPECT_EQ(at(frame(given)), 7) << "the frame stays";
  EXPECT_EQ(at(stack::top(given) - 5 * kPage), 0);
}

TEST_F(budget, idle_workers_leave_a_half) {
  for (int i = 0; i < 3; ++i)
    left_behind(kPages - 1);
  EXPECT_TRUE(stack::above_watermark());
  reclaim_all();
  EXPECT_FALSE(stack::above_watermark());
  EXPECT_EQ(returned(), kPages - 1) << "one stack was enough";
  for (const stack_id each : retired_)
    EXPECT_EQ(at(frame(each)), 7);
}

TEST_F(budget, few_pages_are_left_alone_until_there_are_many_such_stacks) {
  for (int i = 0; i < 3; ++i)
    left_behind(2);
  reclaim_all();
  EXPECT_EQ(returned(), 0u) << "counting was enough";
  EXPECT_LE(charged(), kBudget / 2);
  for (int i = 0; i < 40; ++i) {
    left_behind(4);
    reclaim_all();
  }
  EXPECT_LE(charged(), kBudget / 2);
  EXPECT_GE(returned(), 3 * 2 + 40 * 4 - kBudget / 2);
}

TEST_F(budget, what_was_counted_stays_while_a_bound_can_be_lowered) {
  const stack_id stacks[] = {stack::acquire(), stack::acquire(), stack::acquire(),
                             stack::acquire()};
  for (int round = 0; round < 8; ++round) { // wherever idle workers begin
    for (int i = 0; i < 3; ++i)
      leave(stacks[(round + i) % 4], 1);
    const stack_id counted = leave(stacks[(round + 3) % 4], 40);
    reclaim_all();
    EXPECT_LE(charged(), kBudget / 2) << "two bounds were enough";
    EXPECT_EQ(returned(), 0u) << "round " << round;
    EXPECT_EQ(at(stack::top(counted) - 40 * kPage), 7);
    for (const stack_id each : stacks)
      go_on(each);
  }
}

TEST_F(budget, nothing_is_done_while_little_is_charged) {
  left_behind(kPages - 1);
  EXPECT_FALSE(stack::above_watermark());
  reclaim_all();
  EXPECT_EQ(counts(), 0u);
  EXPECT_EQ(returned(), 0u);
}

TEST_F(budget, pooled_stacks_are_charged_as_well) {
  const stack_id a = stack::acquire();
  std::memset(reinterpret_cast<void*>(stack::bottom(a)), 7, kPages * kPage);
  stack::release(a);
  EXPECT_EQ(charged(), kPages);
  EXPECT_EQ(stack::acquire(), a);
  EXPECT_EQ(charged(), 0u);
}

TEST_F(budget, live_and_dead_pages_are_counted) {
  const auto live = census::live.most();
  const auto dead = census::dead.most();
  for (std::size_t i = live + 1; i > 0; --i)
    left_behind(0);
  EXPECT_EQ(census::live.most(), live + 1) << "a page each";
  EXPECT_EQ(census::dead.most(), dead);
}

TEST_F(budget, dead_pages_beyond_it_are_noticed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a child of fork() has no stacks yet
  EXPECT_EXIT(
      for (std::size_t i = 0; i <= kBudget / kPages; ++i) {
        const stack_id id = stack::acquire();
        std::memset(reinterpret_cast<void*>(stack::bottom(id)), 7, kPages * kPage);
        census::see(stack::event::left, id, stack::top(id)); // without having charged anything
      },
      testing::ExitedWithCode(nopal::base::exit_status_died),
      "the census found 320 dead stack pages, but the budget is 256");
}

// Stops a reclaimer between its claim of a stack and its madvise(2), while the strand goes on.
struct interrupted {
  static inline std::atomic<stack_id> claimed{stack::no_stack};
  static inline std::atomic<bool> may_reclaim{false};

  static void wait(stack::event what, stack_id id, std::uintptr_t frames) {
    census::see(what, id, frames);
    if (what != stack::event::claimed)
      return;
    claimed.store(id);
    while (!may_reclaim.load())
      std::this_thread::yield();
  }
};

class stopped_reclaimer : public budget {
protected:
  void SetUp() override {
    budget::SetUp();
    interrupted::claimed.store(stack::no_stack);
    interrupted::may_reclaim.store(false);
    stack::observer.store(interrupted::wait);
    reclaimer_ = std::thread([this] { delivered_ = stack::reclaim(handoff_); });
  }
  stack_id claimed_stack() {
    while (interrupted::claimed.load() == stack::no_stack)
      std::this_thread::yield();
    return interrupted::claimed.load();
  }
  void let_it_advise() {
    interrupted::may_reclaim.store(true);
    reclaimer_.join();
  }

  std::thread reclaimer_;
  handoff handoff_;
  bool delivered_ = false;
};

class stopped_reclaimer_of_suspended : public stopped_reclaimer {
protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i)
      left_behind(kPages - 1);
    stopped_reclaimer::SetUp();
  }
};

TEST_F(stopped_reclaimer_of_suspended, goes_on_with_the_strand_instead_of_its_resumer) {
  const stack_id id = claimed_stack();
  int frame_of = 0;
  int home = 0;
  EXPECT_FALSE(stack::reuse(id, {&frame_of, &home})) << "its pages are about to go";
  EXPECT_EQ(at(deepest(id)), 7) << "and nobody has used them since";
  let_it_advise();
  EXPECT_TRUE(delivered_);
  EXPECT_EQ(handoff_.frame, &frame_of);
  EXPECT_EQ(handoff_.group, &home);
  EXPECT_EQ(at(deepest(id)), 0);
  go_on(id);
}

TEST_F(stopped_reclaimer_of_suspended, holds_up_no_other_stack) {
  const stack_id id = claimed_stack();
  const std::vector<stack_id> all = retired_;
  for (const stack_id each : all)
    if (each != id)
      go_on(each);
  let_it_advise();
  EXPECT_FALSE(delivered_);
  go_on(id);
}

class stopped_reclaimer_of_pooled : public stopped_reclaimer {
protected:
  void SetUp() override {
    for (stack_id& each : pooled_)
      each = stack::acquire();
    for (const stack_id each : pooled_)
      stack::release(each);
    stopped_reclaimer::SetUp();
  }
  stack_id pooled_[3]{};
};

TEST_F(stopped_reclaimer_of_pooled, returns_it_to_the_pool) {
  const stack_id id = claimed_stack();
  std::vector<stack_id> taken;
  for (int i = 0; i < 3; ++i) {
    taken.push_back(stack::acquire());
    EXPECT_NE(taken.back(), id);
  }
  let_it_advise();
  EXPECT_FALSE(delivered_);
  EXPECT_EQ(stack::acquire(), id);
}

// Strands leave their stacks and go on at random, each with words of its own above and below its
// frame, while other threads reclaim. A thread that is handed a strand runs it.
class strands_and_advisers : public budget {
protected:
  static constexpr int kStrands = 6;
  static constexpr int kAdvisers = 2;
  static constexpr int kRounds = 3000;

  struct strand {
    stack_id on;
    int rounds = 0;
    nopal::base::random random{};
  };

  // Returns when the strand has ended, or a reclaimer has it.
  void run(strand& self) {
    while (self.rounds < kRounds) {
      const std::size_t deep = 1 + self.random.below(kPages - 1);
      const char word = static_cast<char>(++self.rounds);
      at(frame(self.on)) = word;
      for (std::size_t page = 1; page <= deep; ++page) {
        at(frame(self.on) - page * kPage) = word;
        check(at(frame(self.on) - page * kPage) == word);
      }
      stack::retire(self.on, frame(self.on));
      check(stack::measure().charged_pages <= kBudget);
      if (self.random.below(2) == 0)
        std::this_thread::yield();
      if (!stack::reuse(self.on, {&self, nullptr}))
        return;
      check(at(frame(self.on)) == word);
    }
    running_.fetch_sub(1);
  }

  void discard_dead() {
    while (running_.load() != 0) {
      handoff to_do;
      if (!stack::reclaim(to_do))
        continue;
      errands_.fetch_add(1);
      auto& left = *static_cast<strand*>(to_do.frame);
      if (!stack::reuse(left.on, {&left, nullptr}))
        continue;
      check(at(frame(left.on)) == static_cast<char>(left.rounds));
      run(left);
    }
  }

  void check(bool right) { wrong_.fetch_add(right ? 0 : 1); }

  std::atomic<int> running_{kStrands};
  std::atomic<int> errands_{0};
  std::atomic<int> wrong_{0};
};

TEST_F(strands_and_advisers, find_their_words) {
  stack::observer.store([](stack::event what, stack_id id, std::uintptr_t frames) {
    census::see(what, id, frames);
    if (what == stack::event::claimed)
      std::this_thread::yield();
  });
  std::vector<strand> strands(kStrands);
  std::vector<std::thread> threads;
  for (strand& each : strands) {
    each.on = stack::acquire();
    each.random.reseed(3, static_cast<std::uint64_t>(&each - strands.data()));
    threads.emplace_back([this, &each] { run(each); });
  }
  for (int i = 0; i < kAdvisers; ++i)
    threads.emplace_back([this] { discard_dead(); });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong_.load(), 0);
  EXPECT_GT(errands_.load(), 0);
}

} // namespace
} // namespace nopal_test
