// SPDX-License-Identifier: MIT
// Groups of fibers that end together, fibers with a handle, fibers that are spawned with arguments
// or by other threads, and cancelables with a deadline or a token.
#include "nopal/broadcast.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/fiber_group.h"
#include "nopal/semaphore.h"
#include "nopal/sleep.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

namespace nopal_test {

using namespace std::chrono_literals;

// Counts the fibers that have left their function, however that was.
struct counted_exit {
  explicit counted_exit(std::atomic<int>& to) : count{to} {}
  ~counted_exit() { count += 1; }
  std::atomic<int>& count;
};

TEST(group, join_waits_for_all) {
  std::atomic<int> ended{0};
  nopal::run([&] {
    nopal::fiber_group all;
    for (int i = 1; i <= 10; ++i)
      all.spawn([&ended](int add) { ended += add; }, i);
    all.join();
    EXPECT_EQ(ended, 55);
    all.spawn([&] { ended += 1; });
    all.join();
    EXPECT_EQ(ended, 56);
  });
}

// The others wait for ever, unless they are cancelled.
TEST(group, the_first_failure_cancels_the_others) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    std::atomic<int> ended{0};
    nopal::channel<int> silent;
    nopal::run([&] {
      nopal::fiber_group all;
      for (int i = 0; i < 4; ++i)
        all.spawn([&] {
          const counted_exit counted{ended};
          nopal::spawn([&] { silent.recv(); }); // a member, too
          silent.recv();
        });
      all.spawn([] { throw std::runtime_error("first"); });
      EXPECT_THROW(all.join(), std::runtime_error);
      EXPECT_TRUE(all.cancelled());
    });
    EXPECT_LE(ended, 4);
  }
}

TEST(group, the_failure_of_a_fiber_that_a_member_spawned_counts) {
  nopal::channel<int> silent;
  nopal::run([&] {
    nopal::fiber_group all;
    all.spawn([&] {
      nopal::spawn([] { throw std::runtime_error("inner"); });
      silent.recv();
    });
    EXPECT_THROW(all.join(), std::runtime_error);
  });
}

TEST(group, is_cancelled_where_an_exception_unwinds_its_function) {
  nopal::channel<int> silent;
  const auto body = [&] {
    nopal::fiber_group all;
    for (int i = 0; i < 3; ++i)
      all.spawn([&] { silent.recv(); });
    nopal::yield();
    throw std::runtime_error("body");
  };
  EXPECT_THROW(nopal::run(body), std::runtime_error);
}

TEST(group, a_cancelled_strand_cancels_its_group) {
  for (int round = 0; round < repetitions(50, 10); ++round) {
    nopal::channel<int> silent;
    gate running;
    nopal::cancel_scope s;
    s.fork([&] {
      nopal::run([&] {
        nopal::fiber_group all;
        all.spawn([&] { silent.recv(); });
        running.open();
        all.join();
      });
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
  }
}

TEST(group, may_lie_on_the_heap) {
  std::atomic<int> ended{0};
  nopal::channel<int> silent;
  nopal::run([&] {
    auto all = std::make_unique<nopal::fiber_group>();
    for (int i = 0; i < 3; ++i)
      all->spawn([&] {
        const counted_exit counted{ended};
        silent.recv();
      });
    nopal::yield();
    all.reset(); // cancels them, and waits
    all = std::make_unique<nopal::fiber_group>();
    all->spawn([&] { ended = 10; });
    all->join();
  });
  EXPECT_EQ(ended, 10);
}

TEST(task, gives_its_result) {
  nopal::run([] {
    nopal::task sum{[](int a, const std::string& b) { return a + std::stoi(b); }, 3, "4"};
    nopal::task owner{[] { return std::make_unique<int>(5); }};
    int place = 0;
    nopal::task refers{[&]() -> int& { return place; }};
    nopal::task<void> nothing{[&] { nopal::yield(); }};
    EXPECT_EQ(sum.get(), 7);
    EXPECT_EQ(*owner.get(), 5);
    EXPECT_EQ(&refers.get(), &place);
    nothing.get();
    EXPECT_TRUE(nothing.done());
  });
}

TEST(task, throws_what_its_function_threw) {
  nopal::run([] {
    nopal::task fails{[]() -> int { throw std::runtime_error("spines"); }};
    fails.join();
    EXPECT_TRUE(fails.done());
    EXPECT_THROW(fails.get(), std::runtime_error);
  });
}

TEST(task, is_cancelled_and_awaited) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    std::atomic<int> ended{0};
    std::atomic<int> begun{0};
    nopal::channel<int> silent;
    nopal::run([&] {
      const auto wait = [&] {
        begun += 1;
        const counted_exit counted{ended};
        return silent.recv();
      };
      nopal::task stopped{wait};
      nopal::task dropped{wait};
      nopal::task moved{std::move(dropped)};
      nopal::yield();
      stopped.cancel();
      EXPECT_THROW(stopped.get(), nopal::broken_future);
    });
    EXPECT_EQ(ended, begun);
  }
}

TEST(task, of_many) {
  std::atomic<int> sum{0};
  nopal::run([&] {
    std::vector<nopal::task<int>> all;
    for (int i = 0; i < 50; ++i)
      all.emplace_back([i] {
        nopal::yield();
        return i;
      });
    for (nopal::task<int>& each : all)
      sum += each.get();
  });
  EXPECT_EQ(sum, 1225);
}

TEST(spawn, copies_arguments) {
  std::string seen;
  nopal::semaphore done{0};
  nopal::cancelable all;
  nopal::run([&] {
    nopal::spawn(
        [&](const std::string& a, int b) {
          seen = a + std::to_string(b);
          done.release();
        },
        "a", 1);
    nopal::spawn(all, [&](int permits) { done.release(permits); }, 1);
    done.acquire();
    done.acquire();
  });
  EXPECT_EQ(seen, "a1");
}

// `run` returns after the thread has let go of the spawner, and what it spawned has ended.
TEST(spawner, spawns_from_a_foreign_thread) {
  for (int round = 0; round < repetitions(50, 10); ++round) {
    std::atomic<int> sum{0};
    std::thread other;
    nopal::run([&] {
      auto into = std::make_shared<nopal::spawner>();
      other = std::thread([&sum, own = std::move(into)]() mutable {
        for (int i = 1; i <= 10; ++i)
          own->spawn([&sum](int add) { sum += add; }, i);
        own.reset();
      });
    });
    EXPECT_EQ(sum, 55);
    other.join();
  }
}

TEST(cancelable_causes, are_a_deadline_and_a_token) {
  for (int round = 0; round < repetitions(20, 5); ++round) {
    auto on_heap = std::make_unique<nopal::cancelable>();
    nopal::cancelable by_token;
    std::stop_source source;
    on_heap->cancel_after(1ms);
    by_token.cancel_with(source.get_token());
    nopal::run([&] {
      nopal::spawn(*on_heap, [] { nopal::sleep_for(24h); });
      nopal::spawn(by_token, [] { nopal::sleep_for(24h); });
      source.request_stop();
    });
    EXPECT_TRUE(on_heap->cancelled());
    EXPECT_TRUE(by_token.cancelled());
  }
}

TEST(cancelable_causes, of_a_scope_are_a_deadline_and_a_token) {
  std::stop_source source;
  {
    nopal::cancel_scope s{24h, source.get_token()};
    s.fork([] { nopal::sleep_for(24h); });
    source.request_stop();
    EXPECT_FALSE(s.try_join());
  }
  std::stop_source silent;
  nopal::cancel_scope s{std::chrono::steady_clock::now() + 1ms, silent.get_token()};
  s.fork([] { nopal::sleep_for(24h); });
  EXPECT_FALSE(s.try_join());
}

TEST(broadcast, reaches_each_subscription_in_order) {
  nopal::broadcast<int> numbers{2};
  std::atomic<int> wrong{0};
  std::atomic<int> ended{0};
  nopal::run([&] {
    nopal::semaphore subscribed{0};
    for (int i = 0; i < 4; ++i)
      nopal::spawn([&] {
        nopal::subscription<int> mine{numbers};
        subscribed.release();
        int next = 0;
        for (const int each : mine.values())
          wrong += each != next++;
        wrong += next != 50;
        ended += 1;
      });
    for (int i = 0; i < 4; ++i)
      subscribed.acquire();
    for (int i = 0; i < 50; ++i)
      numbers.send(i);
    numbers.close();
    EXPECT_THROW(numbers.send(50), nopal::closed_channel);
    EXPECT_EQ(nopal::subscription<int>{numbers}.values().next(), std::nullopt);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ended, 4);
}

// A subscription ends while a sender waits for it.
TEST(broadcast, does_not_wait_for_a_subscription_that_has_ended) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    nopal::broadcast<int> numbers{1};
    nopal::run([&] {
      auto mine = std::make_unique<nopal::subscription<int>>(numbers);
      nopal::spawn([&] {
        for (int i = 0; i < 3; ++i)
          numbers.send(i);
      });
      nopal::yield();
      EXPECT_EQ(mine->values().recv(), 0);
      mine.reset();
    });
  }
}

using group_death = death;
TEST_F(group_death, a_member_does_not_join_it) {
  const auto join_own = [] {
    nopal::run([] {
      nopal::fiber_group all;
      all.spawn([&] { all.join(); });
      all.join();
    });
  };
  EXPECT_DEATH(join_own(), "that it belongs to itself");
}
TEST_F(group_death, a_spawner_is_made_in_run) {
  EXPECT_DEATH(nopal::spawner{}, "a nopal::spawner was made outside nopal::run");
}

} // namespace nopal_test
