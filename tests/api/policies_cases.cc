// SPDX-License-Identifier: MIT
// The schedulers of nopal/policies.h, and values that fibers wait for (nopal/future.h), nested and
// mixed with forks.
#include "nopal/arena.h"
#include "nopal/channel.h"
#include "nopal/future.h"
#include "nopal/loop.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "nopal/vprocs.h"
#include "tests/api/support.h"

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {

// Fibonacci numbers by ivars, as in the paper's Figure 5: a fiber for each fork.
long fib_by_ivars(int n) {
  if (n < 2)
    return n;
  nopal::ivar<long> x;
  nopal::spawn([&x, n] { x.set(fib_by_ivars(n - 1)); });
  const long y = fib_by_ivars(n - 2);
  return x.get() + y;
}
long fib_by_futures(int n) {
  if (n < 2)
    return n;
  nopal::future1<long> x{[n] { return fib_by_futures(n - 1); }};
  const long y = fib_by_futures(n - 2);
  return x.touch() + y;
}

template <class Policy> class policies : public testing::Test {};
using all_policies = testing::Types<nopal::round_robin, nopal::newest_first,
                                    nopal::proportional_share, nopal::gang, nopal::work_stealing>;
TYPED_TEST_SUITE(policies, all_policies);

TYPED_TEST(policies, runs_fibers_that_fork) {
  TypeParam order;
  std::atomic<long> sum{0};
  nopal::run(order, [&] {
    for (int i = 0; i < 20; ++i)
      nopal::spawn([&] { sum += fib(8); });
  });
  EXPECT_EQ(sum, 20 * 21);
}

TYPED_TEST(policies, runs_fibers_that_wait_for_one_another) {
  TypeParam order;
  EXPECT_EQ(nopal::run(order, [] { return fib_by_ivars(9); }), 34);
  EXPECT_EQ(nopal::run(order, [] { return fib_by_futures(9); }), 34);
}

TYPED_TEST(policies, runs_fibers_that_are_preempted) {
  TypeParam order;
  std::atomic<bool> stop{false};
  nopal::run(order, [&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] {
        while (!stop)
          nopal::poll();
      });
    nopal::spawn([&] { stop = true; });
  });
  EXPECT_TRUE(stop);
}

TYPED_TEST(policies, end_where_the_function_throws) {
  TypeParam order;
  std::atomic<int> begun{0};
  nopal::channel<int> silent;
  const auto body = [&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] {
        begun += 1;
        silent.recv();
      });
    while (begun != 3)
      nopal::yield();
    nopal::spawn([&] { silent.recv(); });
    throw std::runtime_error("body");
  };
  EXPECT_THROW(nopal::run(order, body), std::runtime_error);
  EXPECT_EQ(nopal::run(order, [] { return 1; }), 1);
}

TYPED_TEST(policies, nests_in_each_other_one) {
  TypeParam outer;
  nopal::round_robin threads;
  nopal::newest_first depth_first;
  nopal::proportional_share by_shares;
  nopal::gang gang;
  nopal::work_stealing stealing;
  std::atomic<long> sum{0};
  const auto compute = [&sum](auto& policy) {
    nopal::run(policy, [&] {
      for (int i = 0; i < 5; ++i)
        nopal::spawn([&] {
          sum += fib(6);
          nopal::yield();
          sum += fib_by_ivars(6);
        });
    });
  };
  nopal::run(outer, [&] {
    nopal::spawn([&] { compute(threads); });
    nopal::spawn([&] { compute(depth_first); });
    nopal::spawn([&] { compute(by_shares); });
    nopal::spawn([&] { compute(gang); });
    nopal::spawn([&] { compute(stealing); });
  });
  EXPECT_EQ(sum, 5 * 5 * 16);
}

// Work stealing inside threads that take turns, and a computation by futures inside that.
TYPED_TEST(policies, forks_in_threads_and_futures_in_forks) {
  TypeParam threads;
  std::atomic<long> sum{0};
  nopal::run(threads, [&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] {
        nopal::for_index(0, 4, [&](int) {
          nopal::gang gang;
          sum += nopal::run(gang, [] { return fib_by_futures(7); });
        });
      });
  });
  EXPECT_EQ(sum, 3 * 4 * 13);
}

// Spawns fibers, and returns the vprocs on which they begin.
std::set<const void*> vprocs_of_fibers(std::size_t fibers) {
  std::vector<nopal::ivar<const void*>> begun(fibers);
  for (auto& each : begun)
    nopal::spawn([&each] { each.set(nopal::detail::place_access::vproc_at(nopal::host())); });
  std::set<const void*> seen;
  for (auto& each : begun)
    seen.insert(each.get());
  return seen;
}

// Each computation gets vprocs that the other one does not have, and runs on these alone.
TEST(policies_share, computations_have_vprocs_of_their_own) {
  const auto half = static_cast<unsigned>(nopal::run([] { return nopal::places().size(); })) / 2;
  if (half == 0)
    GTEST_SKIP() << "there is one vproc";
  nopal::work_stealing stealing{half, nopal::placement::provisioned};
  nopal::gang gang{half};
  std::set<const void*> of_stealing;
  std::set<const void*> of_gang;
  nopal::channel<int> begun;
  const auto meet = [&](bool first) { first ? begun.send(1) : void(begun.recv()); };
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::run(stealing, [&] {
        meet(true);
        of_stealing = vprocs_of_fibers(200);
        meet(true);
      });
    });
    nopal::spawn([&] {
      nopal::run(gang, [&] {
        meet(false);
        of_gang = vprocs_of_fibers(200);
        meet(false);
      });
    });
  });
  EXPECT_LE(of_stealing.size(), half);
  EXPECT_LE(of_gang.size(), half);
  for (const void* const at : of_gang)
    EXPECT_FALSE(of_stealing.contains(at));
}

// An arena has one place, its own thread. So there are no more instances than vprocs for them.
TEST(policies_share, a_gang_in_an_arena_has_one_vproc) {
  nopal::gang gang{1000};
  const auto run = [&] { return nopal::run(gang, [] { return vprocs_of_fibers(50).size(); }); };
  EXPECT_EQ(nopal::arena{4}.run(run), 1u);
  EXPECT_EQ(nopal::arena{4}.run(run), 1u);
}

TEST(ivar, is_waited_for_by_many) {
  nopal::ivar<std::string> name;
  std::atomic<int> seen{0};
  nopal::run([&] {
    for (int i = 0; i < 10; ++i)
      nopal::spawn([&] { seen += name.get() == "opuntia"; });
    nopal::yield();
    EXPECT_FALSE(name.is_set());
    name.set("opuntia");
  });
  EXPECT_EQ(seen, 10);
  EXPECT_TRUE(name.is_set());
}

// A thread that runs no strands waits itself.
TEST(ivar, is_waited_for_by_a_foreign_thread) {
  nopal::ivar<int> value;
  int seen = 0;
  std::thread other{[&] { seen = value.get(); }};
  nopal::run([&] { value.set(4); });
  other.join();
  EXPECT_EQ(seen, 4);
}

TEST(future1, throws_what_its_function_threw) {
  std::string seen;
  nopal::run([&] {
    nopal::future1<int> later{[]() -> int { throw std::runtime_error("spines"); }};
    try {
      later.touch();
    } catch (const std::runtime_error& thrown) {
      seen = thrown.what();
    }
  });
  EXPECT_EQ(seen, "spines");
}

TEST(ivar, may_have_no_value) {
  nopal::ivar<void> done;
  int before = 0;
  int seen = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      done.get();
      seen = before;
    });
    before = 3;
    EXPECT_FALSE(done.is_set());
    done.set();
  });
  EXPECT_EQ(seen, 3);
}

TEST(future1, may_have_no_value) {
  int computed = 0;
  nopal::run([&] {
    nopal::future1<void> later{[&] { computed += 1; }};
    later.touch();
    EXPECT_EQ(computed, 1);
    nopal::future1<void> fails{[] { throw std::runtime_error("spines"); }};
    EXPECT_THROW(fails.touch(), std::runtime_error);
  });
}

// It is computed once, whether or not it is touched.
TEST(future1, is_computed_once) {
  std::atomic<int> computed{0};
  nopal::run([&] {
    for (int i = 0; i < 50; ++i) {
      nopal::future1<std::unique_ptr<int>> later{[&computed] {
        computed += 1;
        return std::make_unique<int>(1);
      }};
      if (i % 2 == 0) {
        EXPECT_EQ(*later.touch(), 1);
      }
    }
  });
  EXPECT_EQ(computed, 50);
}

using ivar_death = death;

TEST_F(ivar_death, a_second_value_is_refused) {
  EXPECT_EXIT(
      {
        nopal::ivar<int> answer;
        answer.set(1);
        answer.set(2);
      },
      testing::ExitedWithCode(70), "^nopal: a nopal::ivar was set a second time");
}

using future1_death = death;
TEST_F(future1_death, a_second_touch_is_refused) {
  const auto touch_twice = [] {
    nopal::run([] {
      nopal::future1<int> later{[] { return 1; }};
      later.touch();
      later.touch();
    });
  };
  EXPECT_EXIT(touch_twice(), testing::ExitedWithCode(70),
              "^nopal: a nopal::future1 was touched a second time");
}

struct thrown_at_first {
  explicit thrown_at_first(bool throws) {
    if (throws)
      throw 1;
  }
};

TEST(ivar, is_set_after_a_value_that_threw) {
  nopal::ivar<thrown_at_first> answer;
  EXPECT_THROW(answer.set(true), int);
  EXPECT_FALSE(answer.is_set());
  answer.set(false);
  EXPECT_TRUE(answer.is_set());
}

using policies_death = death;

TEST_F(policies_death, a_share_is_positive) {
  nopal::proportional_share by_shares;
  EXPECT_DEATH(nopal::run(by_shares, [&] { by_shares.set_share(0); }),
               "a share of a nopal::proportional_share is 0, but it must be a positive number");
}

} // namespace nopal_test
