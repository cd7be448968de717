// SPDX-License-Identifier: MIT
// Processes that end before the computation does: the others end too, with a sentence, and nothing
// hangs.
#include "tests/process/deaths.h"

#include <cstdlib>
#include <stdexcept>

namespace nopal_test {
namespace {

const std::string process_1_has_died =
    "nopal: process 1 has died before the computation has ended, so this process ends too\n";

TEST(death, of_any_process_ends_the_others) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    a_process_dies(seed);
}

// It dies while the others wait for it: before it takes part.
TEST(death, before_a_run_ends_the_others) {
  const ended got = apart([] {
    process::session session{0, nullptr, {.processes = 2}};
    if (session.rank() == 1)
      std::raise(SIGKILL);
    session.run([] { return 1; });
    session.run([] { return 1; });
  });
  EXPECT_EQ(got.said, process_1_has_died);
  EXPECT_EQ(got.status, 70);
}

int exits(int depth) {
  if (depth == 0)
    std::exit(3);
  process::task<int> child = process::spawn(exits, depth - 1);
  return process::join(child);
}

TEST(death, by_exit_in_a_task_ends_the_others) {
  const ended got = apart([] {
    process::session session{0, nullptr, {.processes = 4}};
    session.run(exits, 5);
  });
  std::vector<int> all = got.others;
  all.push_back(got.status);
  EXPECT_EQ(std::ranges::count(all, 3), 1) << got.said;
  EXPECT_EQ(std::ranges::count(all, 70), 3) << got.said;
  EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
}

void throws_alone() { throw std::runtime_error("alone"); }

// An exception that nobody catches leaves one process's main.
TEST(death, by_an_exception_ends_the_others) {
  const ended got = apart([] {
    process::session session{0, nullptr, {.processes = 3}};
    [&]() noexcept { // as main
      if (session.rank() == 1)
        throws_alone();
    }();
    session.run([] { return 1; });
    session.run([] { return 1; });
  });
  EXPECT_NE(got.said.find(process_1_has_died), std::string::npos) << got.said;
  EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
  EXPECT_EQ(got.status, 70);
}

// An exception leaves the session on one process, which could go on, but not with the others.
TEST(death, by_an_exception_through_the_session_ends_the_others) {
  const ended got = apart([] {
    try {
      process::session session{0, nullptr, {.processes = 3}};
      if (session.rank() == 1)
        throws_alone();
      session.run([] { return 1; });
      session.run([] { return 1; });
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_NE(got.said.find("nopal: an exception ends the session of process 1, and the other "
                          "processes may wait for it\n"),
            std::string::npos)
      << got.said;
  EXPECT_NE(got.said.find(process_1_has_died), std::string::npos) << got.said;
  EXPECT_EQ(got.status, 70);
}

// What a run has thrown ends the session of each process, all of which go on.
TEST(death, comes_to_nobody_if_a_run_has_thrown) {
  const ended got = apart([] {
    try {
      process::session session{0, nullptr, {.processes = 3}};
      session.run([]() -> int { throw std::runtime_error("together"); });
    } catch (const process::remote_error& error) {
      std::printf("%s ", error.text().c_str());
    }
  });
  EXPECT_EQ(got.said, "together together together ");
  EXPECT_EQ(got.status, 0);
}

} // namespace
} // namespace nopal_test
