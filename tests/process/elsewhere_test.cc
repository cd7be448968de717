// SPDX-License-Identifier: MIT
// Spawns and joins where no task runs: in children of a nopal::scope, in fibers, on other threads
// and stacks, before a session, after it, between runs and at the program's end. They end with a
// sentence. Scopes in tasks that begin and end without a spawn stay what they are.
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "tests/process/processes.h"

#include <cstdlib>
#include <thread>
#include <ucontext.h>

namespace nopal_test {
namespace {

const std::string no_tasks_stack = " was called on a stack that is no task's, as in a child of a "
                                   "nopal::scope, in a fiber, on another thread";
const std::string outside = " was called outside of process::session::run: only a task ";

void spawn_and_join() {
  process::task<long> child = process::spawn(fib, 5);
  process::join(child);
}

// Runs f as a task of one process and of four. Each that calls this function says so.
template <class F> void expect_refused(const char* function, F f) {
  for (const unsigned processes : {1u, 4u}) {
    const ended got = apart([&] {
      process::session session{0, nullptr, {.processes = processes}};
      session.run(f);
      std::printf("went on");
    });
    EXPECT_EQ(got.status, 70) << got.said;
    EXPECT_EQ(got.said.find("went on"), std::string::npos);
    EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
    EXPECT_NE(got.said.find(std::string("nopal: process::") + function + no_tasks_stack),
              std::string::npos)
        << got.said;
    for (const int other : got.others)
      EXPECT_EQ(other, 70);
  }
}

TEST(elsewhere, a_spawn_in_a_child_of_a_scope) {
  expect_refused("spawn", [] {
    nopal::scope s;
    s.fork(spawn_and_join);
    fib(10);
    s.join();
  });
  expect_refused("spawn", [] { // in a child of a child
    nopal::scope s;
    s.fork([] {
      nopal::scope inner;
      inner.fork(spawn_and_join);
      inner.join();
    });
    s.join();
  });
}

TEST(elsewhere, a_join_in_a_child_of_a_scope) {
  expect_refused("join", [] {
    process::task<long> before = process::spawn(fib, 5);
    nopal::scope s;
    s.fork([&] { process::join(before); });
    s.join();
  });
}

TEST(elsewhere, in_fibers) {
  expect_refused("spawn", [] { nopal::run([] { nopal::spawn(spawn_and_join); }); });
  expect_refused("spawn", [] { nopal::run(spawn_and_join); });
}

TEST(elsewhere, on_another_thread) {
  expect_refused("spawn", [] { std::thread{spawn_and_join}.join(); });
  expect_refused("join", [] {
    process::task<long> before = process::spawn(fib, 5);
    std::thread{[&] { process::join(before); }}.join();
  });
}

alignas(16) unsigned char stack_of_program[std::size_t{256} << 10];
ucontext_t of_task, of_coroutine;
TEST(elsewhere, on_a_stack_of_the_program) {
  expect_refused("spawn", [] {
    getcontext(&of_coroutine);
    of_coroutine.uc_stack.ss_sp = stack_of_program;
    of_coroutine.uc_stack.ss_size = sizeof stack_of_program;
    of_coroutine.uc_link = &of_task;
    makecontext(&of_coroutine, spawn_and_join, 0);
    swapcontext(&of_task, &of_coroutine);
  });
}

void expect_outside(const char* function, const std::function<void()>& program) {
  const ended got = apart(program);
  EXPECT_NE(got.said.find(std::string("nopal: process::") + function + outside), std::string::npos)
      << got.said;
  EXPECT_EQ(got.status, 70);
}

TEST(elsewhere, without_a_run) {
  expect_outside("spawn", spawn_and_join); // before a session
  expect_outside("spawn", [] {
    process::session session{0, nullptr};
    spawn_and_join();
  });
  expect_outside("spawn", [] {
    process::session session{0, nullptr};
    session.run(fib, 10);
    std::thread{spawn_and_join}.join();
  });
  expect_outside("spawn", [] {
    {
      process::session{0, nullptr}.run(fib, 10);
    }
    spawn_and_join();
  });
  expect_outside("spawn", [] {
    std::atexit(spawn_and_join);
    {
      process::session{0, nullptr}.run(fib, 10);
    }
    std::exit(0); // NOLINT
  });
  expect_outside("join", [] {
    process::session session{0, nullptr};
    process::task<long> of_run = session.run([] { return process::spawn(fib, 5); });
    process::join(of_run);
  });
}

// In a scope's child, without a session.
TEST(elsewhere, without_a_session) {
  expect_outside("spawn", [] {
    nopal::scope s;
    s.fork(spawn_and_join);
    s.join();
  });
}

// Scopes beside spawns: each begins and ends between two of them.
long with_scopes(int depth) {
  long result = 0;
  {
    nopal::scope s;
    s.fork([&] { result += 1; });
    s.join();
  }
  if (depth == 0)
    return result;
  process::task<long> child = process::spawn(with_scopes, depth - 1);
  long other = with_scopes(depth - 1);
  {
    nopal::scope s;
    s.fork([&] { other += 1; });
    s.join();
  }
  return process::join(child) + other + result;
}

TEST(elsewhere, scopes_between_spawns_are_right) {
  for (const unsigned processes : {1u, 4u}) {
    const ended got = computed_by({.processes = processes}, with_scopes, 7);
    EXPECT_EQ(got.said, std::to_string(128 + 2 * 127));
    EXPECT_EQ(got.status, 0);
  }
}

// An exit in a task calls handlers on the task's stack, which may still spawn.
TEST(elsewhere, a_handler_of_exit_in_a_task_is_a_task) {
  const ended got = apart([] {
    std::atexit([] {
      process::task<long> child = process::spawn(fib, 10);
      std::printf("%ld", process::join(child));
      std::fflush(stdout);
    });
    process::session session{0, nullptr};
    session.run([] { std::exit(3); }); // NOLINT
  });
  EXPECT_EQ(got.said, "55");
  EXPECT_EQ(got.status, 3);
}

} // namespace
} // namespace nopal_test
