// SPDX-License-Identifier: MIT
// fork() in tasks, and around them. A child that the program forks in a task has frames of its own,
// and so has its parent, whichever process of the session that is; the child that comes back to the
// session's work ends with a sentence, and damages nothing.
#include "nopal/fork.h"
#include "tests/process/children.h"
#include "tests/process/processes.h"

#include <cstdlib>
#include <pty.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>

extern char** environ;

namespace nopal_test {
namespace {

constexpr unsigned kinds_of_sessions[] = {1, 4}; // processes
const std::string came_to_a_spawn =
    "nopal: a process that the program has forked from one of the session's came to a spawn, a "
    "join or the end of a task";

// Runs f in each kind of session, and expects its result; and that the children of tasks say this.
template <class F> void expect_result(long wanted, F f, const std::string& said_by_children = "") {
  for (const unsigned processes : kinds_of_sessions) {
    const ended got = computed_by({.processes = processes}, f);
    EXPECT_EQ(got.status, 0) << processes << " processes: " << got.said;
    EXPECT_NE(got.said.find(std::to_string(wanted)), std::string::npos) << got.said;
    if (said_by_children.empty())
      EXPECT_EQ(got.said, std::to_string(wanted));
    else
      EXPECT_NE(got.said.find(said_by_children), std::string::npos) << got.said;
    for (const int other : got.others)
      EXPECT_EQ(other, 0);
  }
}

// 1 if the child and the caller, which use their frames at the same time, each have their own.
long child_and_parent_compute(int value) {
  contents own{value};
  int ends[2];
  if (pipe(ends) != 0)
    return 1000;
  const pid_t child = fork();
  if (child == 0) {
    own = contents{value + 1};
    char may_go_on = 0;
    const bool heard = read(ends[0], &may_go_on, 1) == 1;
    _exit(heard && own.are(value + 1) && deep(10) == 11 ? 7 : 9);
  }
  const bool well = deep(12) == 13 && own.are(value);
  own = contents{value + 2};
  const bool told = write(ends[1], "", 1) == 1;
  const bool ended_well = status_of(child) == 7;
  close(ends[0]);
  close(ends[1]);
  return well && told && ended_well && own.are(value + 2) ? 1 : 1000;
}

long tree_of(long (*leaf)(int), int depth) {
  if (depth == 0)
    return leaf(1);
  process::task<long> left = process::spawn(tree_of, leaf, depth - 1);
  const long right = tree_of(leaf, depth - 1);
  const long here = depth == 3 ? leaf(depth) - 1 : 0; // with open and stolen tasks above
  return process::join(left) + right + here;
}

TEST(forked, parent_and_child_have_frames_of_their_own) {
  expect_result(1, [] { return child_and_parent_compute(3); });
  expect_result(64, [] { return tree_of(child_and_parent_compute, 6); });
}

long runs_another_program(int) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
    _exit(9);
  }
  return status_of(child) == 5 ? 1 : 1000;
}

TEST(forked, a_child_executes_another_program) {
  expect_result(64, [] { return tree_of(runs_another_program, 6); });
}

long other_ways_to_other_programs(int) {
  const char* const words[] = {"sh", "-c", "exit 5", nullptr};
  pid_t child = -1;
  if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char**>(words), environ) != 0)
    return 1000;
  const int spawned = status_of(child);
  child = vfork();
  if (child == 0)
    _exit(6);
  const int by_vfork = status_of(child);
  FILE* const output = popen("echo 7", "r");
  int read = 0;
  const bool got = std::fscanf(output, "%d", &read) == 1;
  pclose(output);
  const int by_system = std::system("exit 8"); // NOLINT
  return spawned == 5 && by_vfork == 6 && got && read == 7 && code_of(by_system) == 8 ? 1 : 1000;
}

TEST(forked, other_ways_to_other_programs_stay) {
  expect_result(8, [] { return tree_of(other_ways_to_other_programs, 3); });
}

// A child with a terminal of its own: the C library forks by itself, and calls no function `fork`
// that a program could have in its place.
long with_a_terminal(int) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0)
    _exit(deep(5) == 6 ? 7 : 9);
  const int status = status_of(child);
  close(terminal);
  return status == 7 ? 1 : 1000;
}

// As a program that lets its daemon go: what the grandchild does nobody waits for but by the pipe.
long with_a_grandchild(int) {
  int ends[2];
  if (pipe(ends) != 0)
    return 1000;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      const char answer = deep(10) == 11 ? 'y' : 'n';
      _exit(write(ends[1], &answer, 1) == 1 ? 0 : 9);
    }
    _exit(7);
  }
  char answer = 0;
  const bool heard = read(ends[0], &answer, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return heard && answer == 'y' && status_of(child) == 7 ? 1 : 1000;
}

long exits_in_a_child(int) {
  const pid_t child = fork();
  if (child == 0)
    std::exit(7); // NOLINT: with the handlers that its parent has registered
  return status_of(child) == 7 ? 1 : 1000;
}

long dies_in_a_child(int) {
  const pid_t child = fork();
  if (child == 0)
    std::raise(SIGKILL);
  return status_of(child) == 128 + SIGKILL ? 1 : 1000;
}

TEST(forked, children_end_as_they_like) {
  expect_result(8, [] { return tree_of(with_a_terminal, 3); });
  if (!nopal::base::a_tool_watches()) // LeakSanitizer misses the threads of the parent
    expect_result(8, [] { return tree_of(exits_in_a_child, 3); });
  expect_result(8, [] { return tree_of(dies_in_a_child, 3); });
}

TEST(forked, a_grandchild_has_frames_of_its_own) {
  expect_result(8, [] { return tree_of(with_a_grandchild, 3); });
}

volatile std::sig_atomic_t child_of_handler = 0;
long in_a_handler_of_signals(int) {
  std::signal(SIGUSR1, [](int) {
    const pid_t child = fork();
    if (child == 0)
      _exit(deep(3) == 4 ? 7 : 9);
    child_of_handler = child;
  });
  std::raise(SIGUSR1);
  return status_of(child_of_handler) == 7 ? 1 : 1000;
}

TEST(forked, in_a_handler_of_signals) {
  expect_result(8, [] { return tree_of(in_a_handler_of_signals, 3); });
}

// Each way back to the session's work.
template <class F> long comes_back_by(F way) {
  contents own{5};
  const pid_t child = fork();
  if (child == 0) {
    way();
    _exit(9); // not reached
  }
  return status_of(child) == 70 && own.are(5) ? 1 : 1000;
}
long spawns(int) {
  return comes_back_by([] {
    process::task<long> more = process::spawn(fib, 2);
    process::join(more);
  });
}
long joins(int) {
  process::task<long> before = process::spawn(fib, 5);
  const long well = comes_back_by([&] { process::join(before); });
  return process::join(before) == 5 ? well : 1000;
}
long throws(int) {
  const pid_t child = fork();
  if (child == 0)
    throw std::runtime_error("in a child");
  return status_of(child) == 70 ? 1 : 1000;
}
long returns(int) {
  const pid_t child = fork();
  return child == 0 || status_of(child) == 70 ? 1 : 1000;
}
long returns_from_a_spawn(int) {
  process::task<long> spawned = process::spawn(returns, 0);
  return process::join(spawned);
}
long throws_from_a_spawn(int) {
  process::task<long> spawned = process::spawn(throws, 0);
  return process::join(spawned);
}

TEST(forked, a_child_that_comes_back_to_the_sessions_work_is_refused) {
  expect_result(8, [] { return tree_of(spawns, 3); }, came_to_a_spawn);
  expect_result(8, [] { return tree_of(joins, 3); }, came_to_a_spawn);
  expect_result(8, [] { return tree_of(returns_from_a_spawn, 3); }, came_to_a_spawn);
  expect_result(8, [] { return tree_of(throws_from_a_spawn, 3); }, came_to_a_spawn);
  expect_result(1, [] { return returns(0); }, came_to_a_spawn);
  expect_result(1, [] { return throws(0); }, came_to_a_spawn);
}

// Not even where the program handles faults itself.
TEST(forked, a_child_that_comes_back_needs_no_handler_of_faults) {
  const auto in_vain = [] {
    std::signal(SIGSEGV, SIG_DFL);
    return returns_from_a_spawn(0);
  };
  expect_result(1, in_vain, came_to_a_spawn);
}

// A child of a scope runs on a stack of its own, perhaps on another thread; what it refers to lies
// in the task's frame.
long in_a_child_of_a_scope(int value) {
  contents own{value};
  long result = 0;
  nopal::scope s;
  s.fork([&] {
    const pid_t child = fork();
    if (child == 0)
      _exit(own.are(value) && deep(3) == 4 ? 7 : 9);
    result = status_of(child) == 7 ? 1 : 1000;
  });
  s.join();
  return own.are(value) ? result : 1000;
}

TEST(forked, in_a_child_of_a_scope) {
  expect_result(8, [] { return tree_of(in_a_child_of_a_scope, 3); });
}

long beside_other_threads(int value) {
  contents own{value};
  long others = 0;
  std::thread other{[&] {
    for (int i = 0; i < 20; ++i) {
      const pid_t child = fork();
      if (child == 0)
        _exit(own.are(value) && deep(3) == 4 ? 7 : 9);
      others += status_of(child) == 7 ? 1 : 1000;
    }
  }};
  bool well = true;
  for (int i = 0; i < 20; ++i)
    well &= child_and_parent_compute(i) == 1 && deep(5) == 6;
  other.join();
  return well && own.are(value) && others == 20 ? 1 : 1000;
}

TEST(forked, on_another_thread_and_beside_it) {
  if (nopal::base::a_tool_watches())
    GTEST_SKIP() << "ThreadSanitizer misses the other thread in each child";
  expect_result(1, [] { return beside_other_threads(4); });
}

TEST(forked, before_a_session_between_runs_and_after_it) {
  for (const unsigned processes : kinds_of_sessions) {
    const ended got = apart([processes] {
      bool well = child_and_parent_compute(1) == 1;
      {
        process::session session{0, nullptr, {.processes = processes}};
        well &= child_and_parent_compute(1) == 1;
        well &= session.run(fib, 15) == 610;
        well &= child_and_parent_compute(1) == 1;
        well &= session.run(fib, 16) == 987;
      }
      well &= child_and_parent_compute(1) == 1;
      std::printf(well ? "." : "wrong");
      std::fflush(stdout);
    });
    EXPECT_EQ(got.said, std::string(processes, '.'));
    EXPECT_EQ(got.status, 0);
  }
}

// The child has ended, or not, when its parent's run and session end: it has nothing of these.
TEST(forked, a_child_outlives_the_session) {
  const ended got = apart([] {
    int ends[2];
    if (pipe(ends) != 0)
      return;
    {
      process::session session{0, nullptr};
      session.run(
          [](int end) { // NOLINT
            if (fork() != 0)
              return;
            char nothing = 0;
            const bool closed = read(end, &nothing, 1) == 1;
            std::printf(closed && deep(10) == 11 ? "lives" : "wrong");
            std::fflush(stdout);
            _exit(0);
          },
          ends[0]);
    }
    static_cast<void>(write(ends[1], "", 1) == 1);
  });
  EXPECT_EQ(got.said, "lives");
}

// A second session finds nothing of the first one's forks.
TEST(forked, in_a_second_session) {
  const ended got = apart([] {
    int well = 0;
    for (int i = 0; i < 2; ++i) {
      process::session session{0, nullptr};
      if (session.run([] { return tree_of(child_and_parent_compute, 3); }) == 8)
        well += 1;
    }
    std::printf("%d", well); // at the end, since children may write what the stream holds
    std::fflush(stdout);
  });
  EXPECT_EQ(got.said, "2");
}

// Made by the system alone, past the C library: the child ends, and the parent goes on unharmed.
TEST(forked, a_child_without_the_c_librarys_steps_is_refused) {
  if (nopal::base::a_tool_watches())
    GTEST_SKIP() << "a sanitizer has a handler of faults";
  const auto makes = [] {
    contents own{5};
    const pid_t child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0)
      _exit(7);
    return status_of(child) == 70 && own.are(5) ? 1 : 1000;
  };
  expect_result(1, makes,
                "nopal: a process that was made in a task by _Fork or clone has none of the task's "
                "stacks");
}

TEST(forked, no_memory_for_the_copy_is_named) {
  if (nopal::base::a_tool_watches())
    GTEST_SKIP() << "a sanitizer needs all addresses";
  const ended got = apart([] {
    process::session session{0, nullptr, {.region_size = std::size_t{64} << 20}};
    session.run([] {
      const rlimit few{std::size_t{128} << 20, std::size_t{128} << 20};
      setrlimit(RLIMIT_AS, &few);
      return fork() == 0 ? 0 : 1;
    });
  });
  EXPECT_EQ(got.status, 70);
  EXPECT_NE(got.said.find("nopal: the program forks in a task, and the child's copy of the task's "
                          "stacks (67108864 bytes) could not be "),
            std::string::npos)
      << got.said;
}

} // namespace
} // namespace nopal_test
