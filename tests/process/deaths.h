// SPDX-License-Identifier: MIT
// A process dies at a random point of a computation; all others say so and end.
#pragma once

#include "tests/process/random_trees.h"

#include <algorithm>
#include <fstream>

namespace nopal_test {

struct death_board {
  std::atomic<int> left{0};    // tasks until the one that dies
  std::atomic<int> victim{-1}; // the process on which it did
};
inline death_board* deaths;

// Without an end, unless a process dies.
inline int grows(int depth) {
  if (deaths->left.fetch_sub(1) == 1) {
    deaths->victim = static_cast<int>(process::rank());
    std::raise(SIGKILL);
  }
  if (depth == 0)
    return 1;
  process::task<int> left = process::spawn(grows, depth - 1);
  const int right = grows(depth - 1);
  return process::join(left) + right;
}

// Expects of one death: the others have said who has died, and have exited with 70; nothing hung.
inline void a_process_dies(std::uint64_t seed) {
  const shared<death_board> board;
  deaths = board.get();
  generator random{seed};
  const unsigned processes = 2 + random.below(6);
  board->left = static_cast<int>(1 + random.below(200'000));
  const ended got = apart([&] {
    process::session session{0, nullptr, {.processes = processes, .seed = seed}};
    session.run(grows, 25);
  });
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(processes) +
               " processes: " + got.said);
  const int victim = board->victim;
  ASSERT_GE(victim, 0);
  EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
  EXPECT_EQ(got.status, victim == 0 ? 128 + SIGKILL : 70);
  // Process 0 may end before others, which then come to the test.
  EXPECT_EQ(std::ranges::count(got.others, 128 + SIGKILL), victim == 0 ? 0 : 1);
  EXPECT_EQ(got.others.size(), processes - 1);
  EXPECT_EQ(std::ranges::count(got.others, 70), processes - 1 - (victim == 0 ? 0 : 1));
  const std::string end = " has died before the computation has ended, so this process ends too\n";
  const std::string of_victim = "nopal: process " + std::to_string(victim) + end;
  EXPECT_NE(got.said.find(of_victim), std::string::npos);
  std::size_t sentences = 0;
  for (std::size_t at = 0; (at = got.said.find(end, at)) != std::string::npos; ++at)
    ++sentences;
  EXPECT_EQ(sentences, processes - 1); // one who ends too may be the one that another names
}

inline int grows_without_end(int depth) {
  if (depth == 0)
    return 1;
  process::task<int> left = process::spawn(grows_without_end, depth - 1);
  const int right = grows_without_end(depth - 1);
  return process::join(left) + right;
}

// Kills one of these processes, after so many microseconds: this one, or a child of it.
inline void begin_killer(generator random) {
  const pid_t root = getpid();
  if (fork() != 0)
    return;
  usleep(random.below(30'000));
  const std::string path = "/proc/" + std::to_string(root);
  std::vector<pid_t> all{root};
  std::ifstream children{path + "/task/" + std::to_string(root) + "/children"};
  for (pid_t child = 0; children >> child;)
    if (child != getpid())
      all.push_back(child);
  kill(all[random.below(static_cast<unsigned>(all.size()))], SIGKILL);
  _exit(0);
}

// Expects that all have ended: the one that was killed, its killer, and the others with 70.
inline void a_process_is_killed_early(std::uint64_t seed) {
  const ended got = apart([seed] {
    begin_killer(generator{seed * 0x9e3779b97f4a7c15u});
    process::session session{0, nullptr, {.processes = 8, .seed = seed}};
    session.run(grows_without_end, 40);
  });
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + got.said);
  std::vector<int> all = got.others;
  all.push_back(got.status);
  EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
  EXPECT_EQ(std::ranges::count(all, 128 + SIGKILL), 1);
  EXPECT_EQ(std::ranges::count(all, 70), static_cast<std::ptrdiff_t>(all.size()) - 2);
}

} // namespace nopal_test
