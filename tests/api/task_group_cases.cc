// SPDX-License-Identifier: MIT
// Tasks that are awaited together, and tasks that follow others.
#include "nopal/channel.h"
#include "nopal/fiber_group.h"
#include "nopal/semaphore.h"
#include "nopal/submit.h"
#include "nopal/task_group.h"
#include "tests/api/alone.h"
#include "tests/api/support.h"

#include <functional>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

TEST(task_group, waits_for_all) {
  nopal::task_group all;
  std::atomic<long> sum{0};
  const int n = repetitions(3000, 300);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n; ++i)
      all.add([&sum, i] { sum += i; });
    all.add([](std::atomic<long>& to, int add) { to += add; }, std::ref(sum), 1000);
    all.wait();
    EXPECT_EQ(sum, (round + 1) * (n * (n - 1L) / 2 + 1000));
  }
}

TEST(task_group, ends_without_tasks) {
  for (int round = 0; round < 5; ++round) {
    nopal::task_group none;
    none.wait();
  }
  const nopal::task_group unused;
}

// The children of a node are added by its task.
void add_tree(nopal::task_group& to, std::atomic<int>& leaves, int depth) {
  if (depth == 0) {
    ++leaves;
    return;
  }
  for (int i = 0; i < 2; ++i)
    to.add([&to, &leaves, depth] { add_tree(to, leaves, depth - 1); });
}

TEST(task_group, has_tasks_that_add_tasks) {
  nopal::task_group all;
  std::atomic<int> leaves{0};
  add_tree(all, leaves, 10);
  all.wait();
  EXPECT_EQ(leaves, 1024);
}

TEST(task_group, destroys_each_function_before_wait_returns) {
  const auto held = std::make_shared<int>(0);
  nopal::task_group all;
  for (int i = 0; i < 100; ++i)
    all.add([held] {});
  for (int i = 0; i < 100; ++i)
    static_cast<void>(all.add_node([held] {}));
  all.wait();
  EXPECT_EQ(held.use_count(), 1);
}

// Added on one thread, awaited on another, and by strands that fork.
class kept_in_a_class {
public:
  void add(int value) {
    all_.add([this, value] { sum_ += static_cast<int>(fib(value % 8)); });
  }
  int settle() {
    all_.wait();
    return sum_;
  }

private:
  std::atomic<int> sum_{0};
  nopal::task_group all_;
};

TEST(task_group, is_passed_down_and_joined_elsewhere) {
  auto shared = std::make_unique<kept_in_a_class>();
  const int n = repetitions(400, 40);
  int expected = 0;
  for (int i = 0; i < n; ++i)
    expected += 4 * static_cast<int>(fib(i % 8));
  const auto add_all = [&] {
    for (int i = 0; i < n; ++i)
      shared->add(i);
  };
  std::thread other{add_all};
  add_all();
  nopal::invoke(add_all, add_all);
  other.join();
  std::thread{[&] { EXPECT_EQ(shared->settle(), expected); }}.join();
  nopal::run([&] { EXPECT_EQ(shared->settle(), expected); });
}

TEST(task_group, its_tasks_wait_for_each_other) {
  const int n = repetitions(500, 50);
  nopal::task_group all;
  nopal::semaphore permits{0};
  std::atomic<int> passed{0};
  for (int i = 0; i < n; ++i)
    all.add([&] {
      permits.acquire();
      ++passed;
    });
  all.add([&] { permits.release(n); });
  all.wait();
  EXPECT_EQ(passed, n);
}

TEST(task_group, waits_for_what_its_tasks_spawn) {
  std::atomic<int> ended{0};
  nopal::task_group all;
  for (int i = 0; i < 20; ++i)
    all.add([&] {
      nopal::spawn([&] {
        nopal::yield();
        ++ended;
      });
    });
  all.wait();
  EXPECT_EQ(ended, 20);
}

TEST(task_group, waits_in_a_task_of_another_group) {
  nopal::task_group outer;
  std::atomic<int> sum{0};
  for (int i = 0; i < 50; ++i)
    outer.add([&sum, i] {
      nopal::task_group inner;
      for (int j = 0; j < 10; ++j)
        inner.add([&sum, i] { sum += i; });
      inner.wait();
    });
  outer.wait();
  EXPECT_EQ(sum, 12250);
}

TEST(task_group, wait_throws_what_the_first_task_has_thrown) {
  nopal::channel<int> silent;
  nopal::task_group all;
  for (int i = 0; i < 4; ++i)
    all.add([&] { silent.recv(); }); // for ever, unless cancelled
  all.add([] { throw std::runtime_error("meant"); });
  EXPECT_THROW(all.wait(), std::runtime_error);
  EXPECT_TRUE(all.cancelled());
  bool ran = false;
  all.add([&] { ran = true; });
  EXPECT_THROW(all.wait(), std::runtime_error);
  EXPECT_FALSE(ran) << "a group that has failed begins no task";
}

TEST(task_group, cancel_stops_tasks_and_skips_those_that_have_not_begun) {
  const int n = repetitions(1000, 100);
  nopal::task_group all;
  nopal::channel<int> silent;
  gate begun;
  std::atomic<int> left{0};
  const auto held = std::make_shared<int>(0);
  all.add([&, held] {
    begun.open();
    try {
      silent.recv();
    } catch (const nopal::cancelled&) {
      ++left;
      throw;
    }
  });
  for (int i = 0; i < n; ++i) {
    const nopal::task_node first = all.add_node([&, held] { silent.recv(); });
    all.add_after({first}, [&, held] { ADD_FAILURE() << "its predecessor never ends"; });
  }
  begun.wait();
  all.cancel(std::make_exception_ptr(7));
  all.wait(); // nothing has failed
  EXPECT_EQ(left, 1);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THROW(std::rethrow_exception(all.reason()), int);
}

TEST(task_group, its_end_waits_where_an_exception_unwinds) {
  std::atomic<int> stopped{0};
  nopal::channel<int> silent;
  gate begun;
  const auto fails = [&] {
    nopal::task_group all;
    all.add([&] {
      begun.open();
      try {
        silent.recv();
      } catch (const nopal::cancelled&) {
        ++stopped;
        throw;
      }
    });
    begun.wait();
    throw std::logic_error("above");
  };
  EXPECT_THROW(fails(), std::logic_error);
  EXPECT_EQ(stopped, 1);
}

TEST(task_group, a_cancelled_strand_stops_to_wait_and_the_tasks_go_on) {
  nopal::semaphore permits{0};
  std::atomic<bool> ended{false};
  nopal::task_group all;
  all.add([&] {
    permits.acquire();
    ended = true;
  });
  nopal::run([&] {
    nopal::fiber_group waiting;
    waiting.spawn([&] { all.wait(); });
    nopal::yield();
    waiting.cancel();
    waiting.join();
  });
  EXPECT_FALSE(ended);
  permits.release();
  all.wait();
  EXPECT_TRUE(ended);
}

TEST(task_graph, a_task_follows_its_predecessors) {
  for (int round = 0; round < repetitions(200, 20); ++round) {
    nopal::task_group all;
    std::atomic<int> order{0};
    int at[4] = {};
    const auto note = [&](int i) { at[i] = ++order; };
    const nopal::task_node a = all.add_node(note, 0);
    const nopal::task_node b = all.add_after({a}, note, 1);
    const nopal::task_node c = all.add_after({a}, note, 2);
    all.add_after({b, c, a}, note, 3);
    all.wait();
    EXPECT_EQ(at[0], 1);
    EXPECT_EQ(at[1] + at[2], 5);
    EXPECT_EQ(at[3], 4);
  }
}

TEST(task_graph, grows_while_it_runs) {
  nopal::task_group all;
  const nopal::task_node ended = all.add_node([] {});
  all.wait();
  nopal::semaphore permits{0};
  std::atomic<int> seen{0};
  const nopal::task_node runs = all.add_node([&] {
    permits.acquire();
    seen = 1;
    // By the task itself, which its own handle, below, is not needed for.
    const nopal::task_node inner = all.add_node([&] { EXPECT_GE(seen.load(), 1); });
    all.add_after({inner}, [&] { seen += 10; });
  });
  all.add_after({ended, runs}, [&] { seen += 100; });
  all.add_after({ended}, [&] { permits.release(); });
  all.wait();
  EXPECT_EQ(seen, 111);
}

// A random graph, each task of which checks that its predecessors have ended, added by several
// threads as it runs.
TEST(task_graph, keeps_the_order_of_random_dependencies) {
  const std::size_t n = static_cast<std::size_t>(repetitions(2000, 200));
  nopal::task_group all;
  const auto grow = [&](unsigned seed) {
    std::mt19937 random{seed};
    std::vector<std::atomic<bool>> done(n);
    std::vector<nopal::task_node> nodes;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::size_t> before(i == 0 ? 0 : random() % 5);
      for (std::size_t& each : before)
        each = random() % i;
      const auto check = [&done, before, i] {
        for (const std::size_t each : before)
          EXPECT_TRUE(done[each]);
        done[i] = true;
      };
      switch (before.size()) {
      case 0:
        nodes.push_back(all.add_node(check));
        break;
      case 1:
        nodes.push_back(all.add_after({nodes[before[0]]}, check));
        break;
      case 2:
        nodes.push_back(all.add_after({nodes[before[0]], nodes[before[1]]}, check));
        break;
      case 3:
        nodes.push_back(
            all.add_after({nodes[before[0]], nodes[before[1]], nodes[before[2]]}, check));
        break;
      default:
        nodes.push_back(all.add_after(
            {nodes[before[0]], nodes[before[1]], nodes[before[2]], nodes[before[3]]}, check));
      }
    }
    gate last;
    all.add_after(std::span<const nopal::task_node>{nodes}, [&] { last.open(); });
    last.wait();
    for (const std::atomic<bool>& each : done)
      EXPECT_TRUE(each);
  };
  std::thread other{grow, 1u};
  grow(2);
  other.join();
  all.wait();
}

TEST(task_graph, what_follows_a_failed_task_does_not_begin) {
  nopal::task_group all;
  std::atomic<bool> ran{false};
  const nopal::task_node fails = all.add_node([] { throw 3; });
  const nopal::task_node next = all.add_after({fails}, [&] { ran = true; });
  all.add_after({next}, [&] { ran = true; });
  EXPECT_THROW(all.wait(), int);
  EXPECT_FALSE(ran);
}

TEST(task_graph, handles_outlive_their_group) {
  nopal::task_node kept;
  {
    nopal::task_group all;
    kept = all.add_node([] {});
    all.wait();
  }
  kept = {};
}

using task_group_death = death;
TEST_F(task_group_death, is_destroyed_with_tasks) {
  EXPECT_EXIT(
      {
        nopal::semaphore never{0};
        nopal::task_group all;
        all.add([&] { never.acquire(); });
      },
      testing::ExitedWithCode(70),
      "nopal: a nopal::task_group was destroyed that has tasks which have not ended; call its wait "
      "before, or cancel it\n");
}
TEST_F(task_group_death, a_task_waits_for_its_own_group) {
  EXPECT_EXIT(
      {
        nopal::task_group all;
        all.add([&] { all.wait(); });
        all.wait();
      },
      testing::ExitedWithCode(70), "nopal::task_group that it belongs to itself");
}
TEST_F(task_group_death, a_task_follows_one_of_another_group) {
  const auto follow = [](const nopal::task_node& before) {
    nopal::task_group all;
    all.add_after({before}, [] {});
    all.wait();
  };
  nopal::task_group other;
  EXPECT_EXIT(follow({}), testing::ExitedWithCode(70),
              "nopal: a task was to follow a nopal::task_node that is empty, or of another "
              "nopal::task_group; it can follow tasks of its own group\n");
  EXPECT_EXIT(follow(other.add_node([] {})), testing::ExitedWithCode(70), "of another");
  other.wait();
}

} // namespace
} // namespace nopal_test
