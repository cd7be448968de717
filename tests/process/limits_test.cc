// SPDX-License-Identifier: MIT
// Programs that outgrow their room, or use a session as they must not: each ends with a sentence.
#include "tests/process/processes.h"

#include <cstdlib>

namespace nopal_test {
namespace {

int deep(int depth) {
  volatile char frame[512];
  frame[0] = 1;
  if (depth == 0)
    return 0;
  process::task<int> child = process::spawn(deep, depth - 1);
  return process::join(child) + frame[0];
}

const std::string region_is_too_small =
    "nopal: the tasks of a process need more than the uni-address region of 65536 bytes for their "
    "stacks; set NOPAL_REGION_SIZE or process::options::region_size to a larger power of two, up "
    "to 1G\n";

TEST(limits, of_the_region_end_in_a_sentence) {
  const ended got = apart([] {
    setenv("NOPAL_REGION_SIZE", "64K", 1);
    process::session session{0, nullptr};
    session.run(deep, 10'000);
  });
  EXPECT_EQ(got.said, region_is_too_small);
  EXPECT_EQ(got.status, 70);
}

TEST(limits, of_the_region_end_all_processes) {
  const ended got =
      computed_by({.processes = 3, .region_size = std::size_t{64} << 10}, deep, 10'000);
  EXPECT_NE(got.said.find(region_is_too_small), std::string::npos) << got.said;
  EXPECT_EQ(got.status, 70);
  for (const int status : got.others)
    EXPECT_EQ(status, 70);
}

// A frame that leaps far below the region: nothing that lies there is overwritten.
volatile int lowest = 0; // else compilers keep as much of the array as is used
template <std::size_t Bytes> int leap(int depth) {
  volatile char frame[Bytes];
  frame[lowest] = 1;
  if (depth == 0)
    return 0;
  process::task<int> child = process::spawn(leap<Bytes>, depth - 1);
  return process::join(child) + frame[lowest];
}

TEST(limits, of_the_region_are_not_leapt_over) {
  constexpr std::size_t KiB = 1024;
  for (auto* const far : {leap<50 * KiB>, leap<200 * KiB>, leap<1000 * KiB>}) {
    const ended got = computed_by({.processes = 2, .region_size = 64 * KiB}, far, 3);
    EXPECT_NE(got.said.find(region_is_too_small), std::string::npos) << got.said;
    EXPECT_EQ(got.status, 70);
  }
}

void change_nothing(int) {}

TEST(limits, a_fault_that_is_sent_has_the_effect_that_it_had) {
  EXPECT_EQ(apart([] {
              signal(SIGSEGV, SIG_DFL); // sanitizers have handlers
              process::session session{0, nullptr, {.processes = 1}};
              raise(SIGSEGV);
            }).status,
            128 + SIGSEGV);
  for (auto* const before : {SIG_IGN, change_nothing}) {
    const ended got = apart([before] {
      signal(SIGSEGV, before);
      process::session session{0, nullptr, {.processes = 1, .region_size = std::size_t{64} << 10}};
      for (int i = 0; i < 3; ++i)
        kill(getpid(), SIGSEGV);
      session.run(deep, 10'000); // the handler is still there
    });
    EXPECT_EQ(got.said, region_is_too_small);
    EXPECT_EQ(got.status, 70);
  }
}

TEST(limits, of_the_region_are_an_option) {
  EXPECT_EQ(computed_by({.region_size = std::size_t{64} << 20}, deep, 10'000).said, "10000");
}

int returns_1() { return 1; }

int left_behind(int number) {
  for (int i = 0; i < number; ++i)
    static_cast<void>(process::spawn(returns_1));
  return number;
}

TEST(limits, of_the_heap_end_in_a_sentence) {
  const ended got = computed_by({.heap_size = std::size_t{1} << 20}, left_behind, 20'000);
  EXPECT_EQ(got.said, "nopal: the heap of 1048576 bytes for the results and the waiting stacks of "
                      "tasks is used up; set NOPAL_HEAP_SIZE or process::options::heap_size to a "
                      "larger power of two\n");
  EXPECT_EQ(got.status, 70);
}

TEST(limits, of_the_heap_are_an_option) {
  EXPECT_EQ(computed_by({.heap_size = std::size_t{4} << 20}, left_behind, 20'000).said, "20000");
}

// What a run leaves behind is gone with it.
TEST(limits, of_the_heap_are_those_of_a_run) {
  const ended got = apart([] {
    process::session session{0, nullptr, {.processes = 2, .heap_size = std::size_t{1} << 20}};
    int sum = 0;
    for (int i = 0; i < 10; ++i)
      sum += session.run(left_behind, 8'000);
    if (session.rank() == 0)
      std::printf("%d", sum);
  });
  EXPECT_EQ(got.said, "80000");
}

TEST(limits, one_session_at_a_time) {
  const ended got = apart([] {
    process::session first{0, nullptr};
    process::session second{0, nullptr};
  });
  EXPECT_EQ(got.said, "nopal: a second process::session was made while there is one; a program "
                      "has one at a time\n");
  EXPECT_EQ(got.status, 70);
}

TEST(limits, more_open_spawns_than_the_queue_has_room_for) {
  const process::options roomy{.processes = 2, .region_size = std::size_t{64} << 20};
  EXPECT_EQ(computed_by(roomy, deep, 20'000).said, "20000");
}

} // namespace
} // namespace nopal_test
