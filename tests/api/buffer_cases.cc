// SPDX-License-Identifier: MIT
// Channels with buffers and channels that are closed; ranges; cases that are known at run time, and
// values that a case which was not done still has.
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "tests/api/support.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {

TEST(buffer, sends_do_not_wait_while_there_is_room) {
  nopal::channel<int> values{3};
  for (int i = 1; i <= 3; ++i) // on a thread that runs no strands: it would wait itself
    values.send(i);
  EXPECT_EQ(nopal::select(nopal::send(values, 4), nopal::otherwise()), 1u);
  EXPECT_EQ(values.recv(), 1);
  EXPECT_EQ(nopal::select(nopal::send(values, 4), nopal::otherwise()), 0u);
  for (int i = 2; i <= 4; ++i)
    EXPECT_EQ(values.recv(), i);
  EXPECT_EQ(nopal::select(nopal::recv(values, [](int) {}), nopal::otherwise()), 1u);
}

TEST(buffer, values_leave_in_the_order_in_which_they_came) {
  constexpr int count = 300;
  for (const std::size_t size : {1u, 2u, 7u}) {
    nopal::channel<int> values{size};
    std::vector<int> received;
    nopal::run([&] {
      nopal::spawn([&] {
        for (int i = 0; i < count; ++i)
          values.send(i);
      });
      for (int i = 0; i < count; ++i)
        received.push_back(values.recv());
    });
    std::vector<int> sent(count);
    std::iota(sent.begin(), sent.end(), 0);
    EXPECT_EQ(received, sent);
  }
}

TEST(buffer, many_senders_many_receivers) {
  constexpr int each = 60;
  std::vector<std::atomic<int>> seen(6 * each);
  nopal::channel<int> values{4};
  nopal::run([&] {
    for (int s = 0; s < 6; ++s)
      nopal::spawn([&, s] {
        for (int i = 0; i < each; ++i)
          values.send(s * each + i);
      });
    for (int r = 0; r < 3; ++r)
      nopal::spawn([&] {
        for (int i = 0; i < 2 * each; ++i)
          seen[static_cast<std::size_t>(values.recv())] += 1;
      });
  });
  for (const std::atomic<int>& count : seen)
    EXPECT_EQ(count.load(), 1);
}

TEST(buffer, what_nobody_received_is_destroyed_with_the_channel) {
  const auto counted = std::make_shared<int>(1);
  {
    nopal::channel<std::shared_ptr<int>> values{3};
    values.send(counted);
    values.send(counted);
    EXPECT_EQ(values.recv(), counted);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(closed, channel_is_received_from_up_to_its_end) {
  nopal::channel<int> values{2};
  std::vector<int> received;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 9; ++i)
        values.send(i);
      values.close();
      values.close(); // nothing
    });
    for (const int each : values)
      received.push_back(each);
  });
  EXPECT_EQ(received, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(values.closed());
  EXPECT_EQ(values.next(), std::nullopt);
  EXPECT_THROW(values.recv(), nopal::closed_channel);
  EXPECT_THROW(values.send(1), nopal::closed_channel);
}

// Whether it waits for a value or comes too late: each of several receivers sees the end.
TEST(closed, channel_lets_all_who_wait_go_on) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    nopal::channel<int> values;
    nopal::channel<int> full{1};
    std::atomic<int> ended{0};
    std::atomic<int> kept{0};
    full.send(0);
    nopal::run([&] {
      for (int i = 0; i < 4; ++i) {
        nopal::spawn([&] { ended += values.next() ? 0 : 1; });
        nopal::spawn([&] {
          auto mine = std::make_unique<int>(5);
          try {
            full.send(*mine);
          } catch (const nopal::closed_channel&) {
            kept += *mine;
          }
        });
      }
      nopal::yield();
      values.close();
      full.close();
    });
    EXPECT_EQ(ended, 4);
    EXPECT_EQ(kept, 20);
    EXPECT_EQ(full.recv(), 0);
  }
}

// The receiver destroys the channel as soon as it has seen the end.
TEST(closed, channel_may_be_destroyed_by_a_receiver) {
  for (int round = 0; round < repetitions(300, 30); ++round) {
    auto values = std::make_unique<nopal::channel<int>>();
    nopal::run([&] {
      nopal::spawn([all = values.get()] {
        all->send(1);
        all->close();
      });
      int sum = 0;
      for (const int each : *values)
        sum += each;
      EXPECT_EQ(sum, 1);
      values.reset();
    });
  }
}

TEST(closed, channel_ends_a_select) {
  nopal::channel<int> values;
  nopal::channel<int> silent;
  int ends = 0;
  const auto never = [](int) { FAIL(); };
  nopal::run([&] {
    nopal::spawn([&] { values.close(); });
    const auto at_end = [&] { ends += 1; };
    EXPECT_EQ(nopal::select(nopal::recv(silent, never), nopal::recv(values, never, at_end)), 1u);
  });
  EXPECT_EQ(ends, 1);
  EXPECT_THROW(nopal::select(nopal::recv(silent, never), nopal::recv(values, never)),
               nopal::closed_channel);
  EXPECT_THROW(nopal::select(nopal::send(values, 1)), nopal::closed_channel);
}

TEST(closed, channel_on_threads_that_run_no_strands) {
  nopal::channel<int> values;
  std::thread receiver([&] { EXPECT_EQ(values.next(), std::nullopt); });
  values.close();
  receiver.join();
}

TEST(kept_value, is_the_callers_where_another_case_is_done) {
  nopal::channel<std::unique_ptr<int>> nobody;
  nopal::channel<int> ready{1};
  ready.send(1);
  auto mine = std::make_unique<int>(7);
  EXPECT_EQ(nopal::select(nopal::send(nobody, std::move(mine)), nopal::recv(ready, [](int) {})),
            1u);
  ASSERT_NE(mine, nullptr); // NOLINT(bugprone-use-after-move): it was not moved
  EXPECT_EQ(nopal::select(nopal::send(nobody, std::move(mine)), nopal::otherwise()), 1u);
  EXPECT_NE(mine, nullptr);
}

TEST(kept_value, is_the_callers_where_the_send_is_cancelled) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    nopal::channel<std::unique_ptr<int>> nobody;
    auto mine = std::make_unique<int>(7);
    gate running;
    nopal::cancel_scope s;
    s.fork([&] {
      running.open();
      nobody.send(std::move(mine));
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_NE(mine, nullptr);
  }
}

TEST(cases, are_known_at_run_time) {
  constexpr int count = 40;
  std::vector<std::unique_ptr<nopal::channel<int>>> from;
  for (int i = 0; i < count; ++i)
    from.push_back(std::make_unique<nopal::channel<int>>());
  std::vector<int> received(count);
  nopal::run([&] {
    for (auto& each : from)
      nopal::spawn([&each] {
        each->send(1);
        each->send(2);
      });
    const auto case_of = [&](std::size_t i) {
      return nopal::recv(*from[i], [&received, i](int value) { received[i] += value; });
    };
    std::vector<decltype(case_of(0))> cases;
    for (std::size_t i = 0; i < from.size(); ++i)
      cases.push_back(case_of(i));
    for (int i = 0; i < 2 * count; ++i)
      EXPECT_LT(nopal::select(cases), from.size());
    EXPECT_EQ(nopal::select(cases, nopal::otherwise()), from.size());
  });
  EXPECT_EQ(received, std::vector<int>(count, 3));
}

TEST(cases, of_several_types_keep_their_values) {
  nopal::channel<std::string> words{1};
  nopal::channel<std::unique_ptr<int>> owners{1};
  nopal::channel<int> numbers;
  std::vector<nopal::any_case> cases;
  cases.emplace_back(nopal::send(words, "word"));
  cases.emplace_back(nopal::send(owners, std::make_unique<int>(3)));
  bool ended = false;
  cases.emplace_back(nopal::recv(numbers, [](int) { FAIL(); }, [&] { ended = true; }));
  const std::size_t first = nopal::select(cases);
  const std::size_t second = nopal::select(cases);
  EXPECT_EQ(first + second, 1u);
  EXPECT_EQ(words.recv(), "word");
  EXPECT_EQ(*owners.recv(), 3);
  numbers.close();
  words.send("full");
  owners.send(nullptr);
  EXPECT_EQ(nopal::select(cases), 2u);
  EXPECT_TRUE(ended);
}

using cases_death = death;
TEST_F(cases_death, there_is_at_least_one) {
  std::vector<nopal::any_case> none;
  EXPECT_EQ(nopal::select(none, nopal::otherwise()), 0u);
  EXPECT_DEATH(nopal::select(none), "nopal::select was given a range without a case");
}

} // namespace nopal_test
