// SPDX-License-Identifier: MIT
// The cases of policies_cases.cc where there is one thread; which fiber a policy runs first there,
// and how often.
#include "nopal/blocking.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <chrono>
#include <string>
#include <thread>

namespace {
const nopal_test::start this_program{1};
}

namespace nopal_test {

TEST(policies_alone, round_robin_goes_round) {
  nopal::round_robin order;
  std::string ran;
  nopal::run(order, [&] {
    for (const char name : {'a', 'b', 'c'})
      nopal::spawn([&, name] {
        for (int i = 0; i < 3; ++i) {
          ran += name;
          nopal::yield();
        }
      });
  });
  EXPECT_EQ(ran, "abcabcabc");
}

// The order in which two fibers run, and the two that each of them spawns.
template <class Policy> std::string order_of_four() {
  Policy order;
  std::string ran;
  nopal::run(order, [&] {
    for (const char name : {'a', 'b'})
      nopal::spawn([&, name] {
        ran += name;
        nopal::spawn([&, name] { ran += static_cast<char>(name + 1); });
      });
  });
  return ran;
}

TEST(policies_alone, newest_first_goes_deep) {
  EXPECT_EQ(order_of_four<nopal::newest_first>(), "bcab");
}

// A fiber that gave way comes last: else it would keep the fibers that it waits for from running.
TEST(policies_alone, newest_first_lets_others_run_before_one_that_gave_way) {
  nopal::newest_first order;
  std::string ran;
  nopal::run(order, [&] {
    nopal::spawn([&] { ran += 'a'; });
    ran += 'b';
    nopal::yield();
    ran += 'c';
  });
  EXPECT_EQ(ran, "bac");
}

TEST(policies_alone, work_stealing_goes_deep) {
  EXPECT_EQ(order_of_four<nopal::work_stealing>(), "bcab");
}

// Notes each vain look: `t` in its own deque, `s` in the deques of others.
class logged : public nopal::work_stealing {
public:
  explicit logged(std::string& log) : log_{log} {}

private:
  nopal::fiber take(unsigned at) override { return noted('t', work_stealing::take(at)); }
  nopal::fiber steal(unsigned at) override { return noted('s', work_stealing::steal(at)); }
  nopal::fiber noted(char what, nopal::fiber found) {
    if (!found)
      log_ += what;
    return found;
  }
  std::string& log_;
};

// Other fibers of the scheduler outside have their turn before a thief steals.
TEST(policies_alone, a_thief_yields_to_the_scheduler_outside) {
  std::string log;
  nopal::round_robin outside;
  logged inside{log};
  nopal::channel<int> go;
  nopal::run(outside, [&] {
    nopal::spawn([&] { nopal::run(inside, [&] { go.recv(); }); });
    nopal::spawn([&] {
      for (int i = 0; i < 3; ++i) {
        log += 'o';
        nopal::yield();
      }
      go.send(1);
    });
  });
  EXPECT_EQ(log.substr(0, 6), "ototso");
}

// A fiber that does not end is preempted, and counts as the oldest then.
TEST(policies_alone, work_stealing_starves_nobody) {
  nopal::work_stealing order;
  bool stop = false;
  nopal::run(order, [&] {
    nopal::spawn([&] { stop = true; });
    nopal::spawn([&] {
      while (!stop)
        nopal::poll();
    });
  });
  EXPECT_TRUE(stop);
}

// A fiber has not used what its thread was blocked for.
TEST(policies_alone, to_block_uses_no_share) {
  nopal::proportional_share by_shares;
  double used = 1;
  double blocked = 0;
  nopal::run(by_shares, [&] {
    nopal::spawn([&] {
      nopal::yield();
      const auto begin = std::chrono::steady_clock::now();
      nopal::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
      const auto end = std::chrono::steady_clock::now();
      blocked = std::chrono::duration<double>(end - begin).count();
      nopal::poll(); // goes back to its scheduler, and its turn ends
      used = by_shares.used();
    });
  });
  EXPECT_LT(used, blocked / 2);
}

} // namespace nopal_test
