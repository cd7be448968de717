// SPDX-License-Identifier: MIT
// A process with very many tasks that wait: how many it asks about, and that all go on.
#include "nopal/process/run/waiting.h"

#include "tests/process/processes.h"

#include <set>

namespace nopal_test {
namespace {

constexpr std::uint64_t many = 100'000;
constexpr std::size_t most = 16;

process::waiting_tasks filled() {
  process::waiting_tasks all;
  for (std::uint64_t i = 0; i < many; ++i)
    all.add({{}, nullptr, i, {}});
  return all;
}

TEST(waiting, each_look_asks_about_few_and_many_looks_about_all) {
  process::waiting_tasks all = filled();
  std::set<std::uint64_t> asked;
  for (std::uint64_t look = 0; look <= many / most; ++look) {
    std::size_t questions = 0;
    const auto none = [&](const process::suspended& each) {
      asked.insert(each.until);
      ++questions;
      return false;
    };
    EXPECT_FALSE(all.take_ready(most, none));
    ASSERT_LE(questions, most + 1);
  }
  EXPECT_EQ(asked.size(), many);
}

// The order in which a recursion ends, from either side.
TEST(waiting, one_that_is_next_to_the_last_is_found_by_few_questions) {
  for (const bool newest_first : {true, false}) {
    process::waiting_tasks all = filled();
    std::size_t questions = 0;
    for (std::uint64_t i = 0; i < many; ++i) {
      const std::uint64_t ready = newest_first ? many - 1 - i : i;
      const auto taken = all.take_ready(most, [&](const process::suspended& each) {
        ++questions;
        return each.until == ready;
      });
      ASSERT_TRUE(taken && taken->until == ready);
    }
    EXPECT_LE(questions, 8 * many);
    EXPECT_TRUE(all.empty());
  }
}

// Each level begins the next one when another process has taken the level before, which then waits
// there.
int level(int number, std::uint32_t stolen_before) {
  until_stolen(stolen_before);
  if (number == 0)
    return 0;
  process::task<int> next = process::spawn(level, number - 1, process::this_worker.queue.stolen());
  return process::join(next) + 1;
}
int levels(int number) {
  process::task<int> first = process::spawn(level, number, process::this_worker.queue.stolen());
  return process::join(first);
}

TEST(waiting, very_many_go_on) {
  const process::options roomy{
      .processes = 2, .region_size = std::size_t{16} << 20, .heap_size = std::size_t{64} << 20};
  EXPECT_EQ(computed_by(roomy, levels, 5'000).said, "5000");
}

} // namespace
} // namespace nopal_test
