// SPDX-License-Identifier: MIT
// A fiber failed that others waited for: its exception was kept for who would ask when all had
// ended, and nobody was told why a program stood still, or a server gave no answers.
#include <nopal/cancelable.h>
#include <nopal/channel.h>
#include <nopal/engine.h>
#include <nopal/fiber_group.h>
#include <nopal/io.h>
#include <nopal/sleep.h>
#include <nopal/task_group.h>

#include "nopal/base/limits.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

namespace nopal_test {
namespace {

using nopal::channel;

const testing::ExitedWithCode found_dead{70};
const std::string kFailed =
    "nopal: 1 fiber has failed, and nobody has asked for its exception yet .*"
    "the first: std::runtime_error: the database is gone\n";
const std::string kDead = "nopal: deadlock: no strand can go on";

[[noreturn]] void fail() { throw std::runtime_error{"the database is gone"}; }
[[noreturn]] void wait_for_ever() {
  channel<int> jobs;
  jobs.recv();
  std::abort();
}

class contracts_failures_death : public death {
protected:
  void SetUp() override {
    death::SetUp();
#if defined(NOPAL_TSAN)
    GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
#endif
    if (nopal::base::handles_signals())
      GTEST_SKIP() << "the process handles signals";
  }
};

TEST_F(contracts_failures_death, of_a_fiber_is_told_at_a_deadlock) {
  EXPECT_EXIT(nopal::run([] {
                nopal::spawn(fail);
                wait_for_ever();
              }),
              found_dead, kFailed + "(.*\n)*" + kDead);
}

TEST_F(contracts_failures_death, of_a_group_is_told_at_a_deadlock) {
  EXPECT_EXIT(nopal::run([] {
                nopal::fiber_group group;
                group.spawn(fail);
                wait_for_ever();
              }),
              found_dead, kFailed + "(.*\n)*" + kDead);
}

TEST_F(contracts_failures_death, of_a_task_is_told_at_a_deadlock) {
  EXPECT_EXIT(nopal::run([] {
                const nopal::task<void> task{fail};
                wait_for_ever();
              }),
              found_dead, kFailed + "(.*\n)*" + kDead);
}

TEST_F(contracts_failures_death, are_counted) {
  EXPECT_EXIT(nopal::run([] {
                nopal::spawn(fail);
                nopal::spawn([] { throw 7; });
                const nopal::task<void> task{[] { throw std::string{"why"}; }};
                wait_for_ever();
              }),
              found_dead, "nopal: 3 fibers have failed, and nobody has asked for their exceptions");
}

TEST_F(contracts_failures_death, that_were_given_are_not_told) {
  EXPECT_EXIT(nopal::run([] {
                EXPECT_THROW(nopal::run([] { nopal::spawn(fail); }), std::runtime_error);
                nopal::fiber_group group;
                group.spawn(fail);
                EXPECT_THROW(group.join(), std::runtime_error);
                nopal::task<void> task{fail};
                EXPECT_THROW(task.get(), std::runtime_error);
                {
                  const nopal::task<void> dropped{fail};
                }
                wait_for_ever();
              }),
              found_dead, "^nopal: 1 strand waits [^\n]*\n" + kDead + "[^\n]*\n$");
}

TEST_F(contracts_failures_death, of_what_an_engine_waits_for_names_the_engine) {
  EXPECT_EXIT(nopal::run([] {
                nopal::engine<int> engine{[] {
                  wait_for_ever();
                  return 1;
                }};
                static_cast<void>(std::move(engine).run(1000));
              }),
              found_dead,
              "nopal: 1 strand waits for the end of the turn that it has given a nopal::engine by "
              "its run, at 0x");
}

// Each has a fiber that fails, and one that waits for ever.
void run_within() {
  nopal::run([] {
    nopal::spawn(fail);
    wait_for_ever();
  });
}
void group_within() {
  nopal::fiber_group group;
  group.spawn(fail);
  wait_for_ever();
}
void task_within() {
  const nopal::task<void> task{fail};
  wait_for_ever();
}
void tasks_within() {
  nopal::task_group tasks;
  tasks.add(fail);
  wait_for_ever();
}

// Reads what the process says on standard error until the failure is told: as long as it takes.
bool is_told_while_the_program_goes_on(void (*serve)()) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
    return false;
  nopal::io::descriptor errors{ends[0]};
  nopal::cancelable server;
  std::string told;
  nopal::run([&] {
    nopal::spawn(server, serve);
    char text[256];
    while (told.find("the database is gone\n") == std::string::npos)
      told.append(text, nopal::io::read_some(errors, text));
    server.cancel();
  });
  return told.find("1 fiber has failed") != std::string::npos;
}

TEST(contracts_failures, are_told_while_a_server_goes_on) {
  unsigned workers = 1;
  for (const auto serve : {run_within, group_within, task_within, tasks_within}) {
    const auto told = apart([=] {
      nopal::configure({.num_workers = workers});
      return is_told_while_the_program_goes_on(serve);
    });
    EXPECT_EQ(told, 1u) << workers << " workers";
    workers = 5 - workers;
  }
}

} // namespace
} // namespace nopal_test
