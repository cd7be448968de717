// SPDX-License-Identifier: MIT
// Channels and select: each value arrives once, in order, and at whoever waits; waiting at several
// channels; threads that run no strands.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "tests/api/support.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace nopal_test {

TEST(channel, values_arrive_in_order) {
  std::vector<int> received;
  nopal::channel<int> values;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 200; ++i)
        values.send(i);
    });
    for (int i = 0; i < 200; ++i)
      received.push_back(values.recv());
  });
  std::vector<int> sent(200);
  std::iota(sent.begin(), sent.end(), 0);
  EXPECT_EQ(received, sent);
}

TEST(channel, a_value_moves) {
  std::unique_ptr<int> received;
  nopal::channel<std::unique_ptr<int>> values;
  nopal::run([&] {
    nopal::spawn([&] { values.send(std::make_unique<int>(9)); });
    received = values.recv();
  });
  ASSERT_NE(received, nullptr);
  EXPECT_EQ(*received, 9);
}

// A send returns when the value has been received, not before.
TEST(channel, a_send_waits_for_its_receiver) {
  bool begun = false;
  bool seen = false;
  nopal::channel<int> meet;
  nopal::run([&] {
    nopal::spawn([&] {
      begun = true;
      meet.recv();
    });
    meet.send(1);
    seen = begun;
  });
  EXPECT_TRUE(seen);
}

// Each of the values arrives once, whatever the numbers of senders and receivers.
void every_value_arrives_once(int senders, int receivers, int each) {
  const int total = senders * each;
  ASSERT_EQ(total % receivers, 0);
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(total));
  nopal::channel<int> values;
  nopal::run([&] {
    for (int s = 0; s < senders; ++s)
      nopal::spawn([&, s] {
        for (int i = 0; i < each; ++i)
          values.send(s * each + i);
      });
    for (int r = 0; r < receivers; ++r)
      nopal::spawn([&] {
        for (int i = 0; i < total / receivers; ++i)
          seen[static_cast<std::size_t>(values.recv())] += 1;
      });
  });
  for (const std::atomic<int>& count : seen)
    EXPECT_EQ(count.load(), 1);
}

TEST(channel, one_sender_many_receivers) { every_value_arrives_once(1, 25, 500); }
TEST(channel, many_senders_one_receiver) { every_value_arrives_once(25, 1, 20); }
TEST(channel, many_senders_many_receivers) { every_value_arrives_once(20, 10, 50); }

// Selects on both sides of the same channels: each value is sent and received once.
TEST(channel, selects_meet_selects) {
  constexpr int pairs = 8;
  constexpr int each = 100;
  std::atomic<long> sent{0};
  std::atomic<long> received{0};
  nopal::channel<int> a;
  nopal::channel<int> b;
  nopal::run([&] {
    for (int p = 0; p < pairs; ++p) {
      nopal::spawn([&] {
        for (int i = 1; i <= each; ++i)
          nopal::select(nopal::send(a, i, [&] { sent += i; }),
                        nopal::send(b, 1000 * i, [&] { sent += 1000 * i; }));
      });
      nopal::spawn([&] {
        for (int i = 1; i <= each; ++i)
          nopal::select(nopal::recv(a, [&](int value) { received += value; }),
                        nopal::recv(b, [&](int value) { received += value; }));
      });
    }
  });
  EXPECT_EQ(sent.load(), received.load());
  EXPECT_GT(received.load(), 0);
}

// Both sides select among all places, in orders of their own, and each place stands twice in each.
TEST(channel, selects_of_many_cases_meet) {
  const std::size_t places = 500;
  std::vector<std::unique_ptr<nopal::channel<std::size_t>>> all;
  for (std::size_t i = 0; i < places; ++i)
    all.push_back(std::make_unique<nopal::channel<std::size_t>>());
  std::minstd_rand random{7};
  std::atomic<std::size_t> sent{0};
  std::atomic<std::size_t> received{0};
  const auto cases = [&](auto make) {
    std::vector<std::size_t> order(2 * places);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<decltype(make(*all[0]))> made;
    for (const std::size_t each : order)
      made.push_back(make(*all[each % places]));
    return made;
  };
  const std::size_t value_sent = 3;
  auto sends = cases([&](auto& to) { return nopal::send(to, value_sent); });
  auto recvs = cases([&](auto& from) {
    return nopal::any_case{nopal::recv(from, [&](std::size_t value) { received += value; })};
  });
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 50; ++i)
        nopal::select(recvs);
    });
    for (int i = 0; i < 50; ++i)
      sent += nopal::select(sends) < 2 * places ? 3 : 0;
  });
  EXPECT_EQ(sent, 150u);
  EXPECT_EQ(received, 150u);
}

TEST(channel, a_select_takes_what_is_possible) {
  int from_a = 0;
  std::size_t taken = 0;
  nopal::channel<int> a;
  nopal::channel<int> never;
  nopal::run([&] {
    nopal::spawn([&] { a.send(5); });
    taken = nopal::select(nopal::recv(never, [](int) { FAIL(); }),
                          nopal::recv(a, [&](int value) { from_a = value; }));
  });
  EXPECT_EQ(taken, 1u);
  EXPECT_EQ(from_a, 5);
}

// What a select has not taken is not done later either.
TEST(channel, the_cases_that_were_not_taken_are_withdrawn) {
  std::vector<int> received;
  nopal::channel<int> a;
  nopal::channel<int> b;
  nopal::run([&] {
    nopal::spawn([&] { b.send(2); });
    const auto keep = [&](int value) { received.push_back(value); };
    nopal::select(nopal::recv(a, keep), nopal::recv(b, keep));
    nopal::spawn([&] { a.send(1); });
    received.push_back(10 * a.recv());
  });
  EXPECT_EQ(received, (std::vector{2, 10}));
}

// A select never meets itself.
TEST(channel, a_select_on_both_ends_waits_for_another) {
  int received = 0;
  nopal::channel<int> a;
  nopal::run([&] {
    nopal::spawn([&] { a.send(4); });
    const std::size_t taken =
        nopal::select(nopal::send(a, 3), nopal::recv(a, [&](int value) { received = value; }));
    EXPECT_EQ(taken, 1u);
  });
  EXPECT_EQ(received, 4);
}

TEST(channel, otherwise_is_done_where_nothing_is_possible) {
  nopal::channel<int> a;
  nopal::run([&] {
    bool did = false;
    EXPECT_EQ(nopal::select(nopal::recv(a, [](int) {}), nopal::otherwise([&] { did = true; })), 1u);
    EXPECT_TRUE(did);
    EXPECT_EQ(nopal::select(nopal::send(a, 1), nopal::otherwise()), 1u);
  });
}

TEST(channel, otherwise_is_not_done_where_something_is_possible) {
  bool received = false;
  nopal::channel<int> a;
  nopal::run([&] {
    nopal::spawn([&] { a.send(1); });
    while (!received) {
      nopal::select(nopal::recv(a, [&](int) { received = true; }), nopal::otherwise(nopal::yield));
    }
  });
  EXPECT_TRUE(received);
}

// Of several that are possible each is chosen now and then.
TEST(channel, a_select_starves_no_case) {
  int from_a = 0;
  int from_b = 0;
  nopal::channel<int> a;
  nopal::channel<int> b;
  nopal::channel<int> enough;
  nopal::run([&] {
    const auto flood = [&enough](nopal::channel<int>& to) {
      for (bool more = true; more;)
        nopal::select(nopal::send(to, 1), nopal::recv(enough, [&](int) { more = false; }));
    };
    nopal::spawn([&] { flood(a); });
    nopal::spawn([&] { flood(b); });
    while (from_a < 10 || from_b < 10)
      nopal::select(nopal::recv(a, [&](int) { ++from_a; }), nopal::recv(b, [&](int) { ++from_b; }));
    enough.send(1);
    enough.send(1);
  });
  EXPECT_GE(from_a, 10);
  EXPECT_GE(from_b, 10);
}

TEST(channel, what_a_then_throws_leaves_the_select) {
  nopal::channel<int> a;
  const auto body = [&] {
    nopal::spawn([&] { a.send(1); });
    nopal::select(nopal::recv(a, [](int) { throw std::runtime_error("then"); }));
  };
  EXPECT_THROW(nopal::run(body), std::runtime_error);
}

// A sieve: a chain of fibers that grows, each of which drops the multiples of its prime.
void sieve(nopal::channel<int>& numbers, nopal::channel<int>& primes) {
  const int prime = numbers.recv();
  primes.send(prime);
  if (prime == 0)
    return;
  nopal::channel<int> rest;
  nopal::run([&] {
    nopal::spawn([&] { sieve(rest, primes); });
    for (int next = -1; next != 0;) {
      next = numbers.recv();
      if (next == 0 || next % prime != 0)
        rest.send(next);
    }
  });
}

TEST(channel, a_sieve_of_fibers) {
  std::vector<int> primes;
  nopal::channel<int> numbers;
  nopal::channel<int> found;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int n = 2; n < 60; ++n)
        numbers.send(n);
      numbers.send(0);
    });
    nopal::spawn([&] { sieve(numbers, found); });
    for (int prime = 0; (prime = found.recv()) != 0;)
      primes.push_back(prime);
  });
  EXPECT_EQ(primes, (std::vector{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59}));
}

TEST(channel, children_of_a_fork_use_channels) {
  std::atomic<long> sum{0};
  nopal::channel<int> values;
  nopal::run([&] {
    nopal::spawn([&] { nopal::for_index(0, 64, [&](int i) { values.send(i); }, 1); });
    nopal::for_index(0, 64, [&](int) { sum += values.recv(); }, 1);
  });
  EXPECT_EQ(sum.load(), 64 * 63 / 2);
}

// A thread that runs no strands waits itself.
TEST(channel, threads_that_run_no_strands) {
  nopal::channel<int> values;
  std::atomic<long> sum{0};
  std::thread sender([&] {
    for (int i = 0; i < 100; ++i)
      values.send(i);
  });
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 100; ++i)
        sum += values.recv();
    });
  });
  sender.join();
  EXPECT_EQ(sum.load(), 4950);
  std::thread other([&] { values.send(1); });
  EXPECT_EQ(values.recv(), 1);
  other.join();
}

using channel_death = death;
TEST_F(channel_death, a_channel_must_outlive_those_who_wait) {
  const auto destroy_too_early = [] {
    nopal::run([] {
      nopal::fibers::meeting_place place;
      nopal::spawn([&place] {
        nopal::fibers::alternative only{&place, nopal::sync::side::sending, nullptr};
        nopal::fibers::do_one(&only, 1);
      });
      while (place.empty(nopal::sync::side::sending))
        nopal::yield();
      nopal::fibers::check_nobody_waits(place);
    });
  };
  EXPECT_DEATH(destroy_too_early(), "a nopal::channel was destroyed while a strand waits");
}

} // namespace nopal_test
