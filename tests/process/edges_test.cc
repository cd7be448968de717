// SPDX-License-Identifier: MIT
// Programs that processes begin or end in otherwise than as they should.
#include "nopal/base/sanitizer.h"

#include "tests/process/deaths.h"

#include <cfenv>
#include <functional>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <thread>

namespace {
bool is_forked = false;
}
// LeakSanitizer asks this at exit. In a process that another one has forked it calls the memory of
// threads that do not exist there a leak.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return is_forked ? 1 : 0; }

namespace nopal_test {
namespace {

TEST(edges, a_death_at_any_moment_from_the_first_leaves_nobody_behind) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    a_process_is_killed_early(seed);
}

// fork(2) fails for one of the processes: those that there are end.
TEST(edges, a_process_that_cannot_be_begun_leaves_nobody_behind) {
  const ended got = apart([] {
    if (getuid() == 0 && setuid(65'534) != 0)
      return;
    const rlimit few{3, 3};
    setrlimit(RLIMIT_NPROC, &few);
    process::session session{0, nullptr, {.processes = 8}};
    std::printf("a session");
  });
  EXPECT_EQ(got.status, 70) << got.said;
  EXPECT_EQ(std::ranges::count(got.others, 70), static_cast<std::ptrdiff_t>(got.others.size()));
  EXPECT_NE(got.said.find("could not be begun: Resource temporarily unavailable"),
            std::string::npos)
      << got.said;
}

TEST(edges, memory_that_a_limit_on_files_refuses_is_named) {
  const ended got = apart([] {
    const rlimit small{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &small);
    process::session session{0, nullptr, {.processes = 4}};
  });
  EXPECT_EQ(got.status, 70) << got.said;
  EXPECT_NE(got.said.find("could not be had for the processes: File too large"), std::string::npos)
      << got.said;
}

// Each number of files that a program may have open is enough, or too few in one sentence.
TEST(edges, too_few_descriptors_are_named) {
  for (const unsigned processes : {1u, 2u, 4u, 8u}) {
    bool one_is_enough = false;
    for (rlim_t most = 3; most <= 20; ++most) {
      const ended got = apart([&] {
        const rlimit few{most, most};
        setrlimit(RLIMIT_NOFILE, &few);
        process::session session{0, nullptr, {.processes = processes}};
        if (session.run([] { return fib(12); }) == 144 && session.rank() == 0)
          std::printf("well");
      });
      const bool enough = got.said == "well";
      one_is_enough |= enough;
      EXPECT_EQ(got.status, enough ? 0 : 70) << got.said;
      EXPECT_TRUE(got.others.empty());
      const bool in_words = got.said.starts_with("nopal: ") &&
                            got.said.find('\n') + 1 == got.said.size() &&
                            got.said.find("Too many open files") != std::string::npos;
      EXPECT_TRUE(enough || in_words) << got.said;
      EXPECT_TRUE(enough || !one_is_enough) << most;
    }
    EXPECT_TRUE(one_is_enough);
  }
}

// In a namespace of mounts of its own. Needs the rights for that.
TEST(edges, without_proc) {
  if (nopal::base::a_tool_watches())
    GTEST_SKIP() << "a sanitizer reads /proc";
  constexpr int no_rights = 77;
  for (const unsigned processes : {1u, 3u}) {
    const ended got = apart([&] {
      if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
          mount("none", "/proc", "tmpfs", 0, nullptr) != 0)
        _exit(no_rights);
      process::session session{0, nullptr, {.processes = processes}};
      if (session.run([] { return fib(12); }) == 144)
        std::printf("well");
    });
    if (got.status == no_rights)
      GTEST_SKIP() << "no right to mount";
    const std::string wanted =
        processes == 1 ? "well"
                       : "nopal: /proc/self/fd cannot be read (No such file or directory): the "
                         "processes of a session find each other by /proc, which has to be mounted";
    EXPECT_TRUE(got.said.starts_with(wanted)) << got.said;
    EXPECT_EQ(got.status, processes == 1 ? 0 : 70);
    EXPECT_TRUE(got.others.empty());
  }
}

int return_one() { return 1; }
int return_two() { return 2; }

// What a program does wrong, and a part of what it says.
void expect_misuse(const std::string& sentence, const std::function<void()>& program) {
  const ended got = apart(program);
  EXPECT_NE(got.said.find("nopal: " + sentence), std::string::npos) << got.said;
  EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
  EXPECT_EQ(got.status, 70) << sentence;
}

TEST(misuse, a_run_that_some_processes_do_not_call) {
  for (const unsigned processes : {2u, 3u, 5u})
    for (unsigned which = 0; which < processes; ++which)
      for (const bool calls : {false, true}) {
        const ended got = apart([&] {
          process::session session{0, nullptr, {.processes = processes}};
          session.run(return_one);
          if ((session.rank() == which) == calls)
            session.run(return_one);
        });
        EXPECT_NE(got.said.find("every process calls session::run as often as the others"),
                  std::string::npos)
            << got.said;
        EXPECT_EQ(got.status, 70);
        EXPECT_EQ(got.said.find("(hung)"), std::string::npos);
      }
}

TEST(misuse, runs_of_other_functions) {
  expect_misuse("process ", [] {
    process::session session{0, nullptr, {.processes = 3}};
    session.rank() == 1 ? session.run([] { return return_two(); })
                        : session.run([] { return return_one(); });
  });
}

TEST(misuse, a_spawn_outside_of_a_run) {
  const std::string sentence =
      "process::spawn was called outside of process::session::run: only a task spawns\n";
  expect_misuse(sentence, [] { static_cast<void>(process::spawn(return_one)); });
  expect_misuse(sentence, [] {
    process::session session{0, nullptr};
    static_cast<void>(process::spawn(return_one));
  });
  expect_misuse(sentence, [] {
    process::session session{0, nullptr};
    session.run(return_one);
    static_cast<void>(process::spawn(return_one));
  });
  expect_misuse(sentence, [] {
    {
      process::session session{0, nullptr};
    }
    static_cast<void>(process::spawn(return_one));
  });
}

TEST(misuse, a_join_outside_of_a_run) {
  expect_misuse("process::join was called outside of process::session::run: only a task joins\n",
                [] {
                  process::session session{0, nullptr};
                  auto task = session.run([] { return process::spawn(return_one); });
                  process::join(task);
                });
}

TEST(misuse, a_second_join) {
  for (const unsigned processes : {1u, 3u})
    expect_misuse("a task was joined a second time; each is joined once\n", [processes] {
      process::session session{0, nullptr, {.processes = processes}};
      session.run([] {
        process::task<int> task = process::spawn(return_one);
        return process::join(task) + process::join(task);
      });
    });
}

process::session* of_main; // the session, which each process has at its own address

TEST(misuse, a_run_in_a_task) {
  expect_misuse("process::session::run was called in a task, which spawns and joins instead\n", [] {
    process::session session{0, nullptr};
    of_main = &session;
    session.run([] { return of_main->run(return_one); });
  });
}

TEST(misuse, a_session_in_a_task) {
  expect_misuse("a second process::session was made while there is one", [] {
    process::session session{0, nullptr};
    session.run([] {
      process::session second{0, nullptr};
      return second.run(return_one);
    });
  });
}

TEST(misuse, a_second_session_by_fork_in_every_process) {
  const ended got = apart([] {
    {
      process::session first{0, nullptr, {.processes = 3}};
    }
    process::session second{0, nullptr, {.processes = 3}};
    std::printf(".");
  });
  EXPECT_NE(got.said.find("nopal: a second process::session was made in a process that the first "
                          "one has forked"),
            std::string::npos)
      << got.said;
  EXPECT_NE(got.said.find("has exited with status 70"), std::string::npos);
  EXPECT_EQ(got.status, 70);
}

TEST(misuse, threads_before_the_session) {
  if (nopal::base::a_tool_watches())
    GTEST_SKIP() << "a sanitizer has threads of its own";
  expect_misuse("the program has 2 threads where process::session forks its processes", [] {
    std::thread other{[] { pause(); }};
    process::session session{0, nullptr, {.processes = 2}};
  });
}

TEST(misuse, a_run_in_a_forked_process) {
  const ended got = apart([] {
    process::session session{0, nullptr, {.processes = 2}};
    if (session.rank() == 0 && fork() == 0)
      session.run(return_one);
    session.run(return_one);
  });
  EXPECT_NE(got.said.find("nopal: process::session::run was called in a process that the program "
                          "has forked"),
            std::string::npos)
      << got.said;
  EXPECT_EQ(got.status, 0);
}

// A process that the program forks ends as it likes: by leaving the session's block, and by exit.
TEST(ends, of_a_forked_process_are_its_own) {
  for (const bool exits : {false, true}) {
    const ended got = apart([exits] {
      process::session session{0, nullptr, {.processes = 3}};
      session.run(return_one);
      const pid_t child = session.rank() == 1 ? fork() : -1;
      is_forked = child == 0;
      if (child == 0 && exits)
        std::exit(0);
      if (child == 0)
        return;
      if (child > 0)
        waitpid(child, nullptr, 0);
      if (session.run(return_two) == 2 && session.rank() == 0)
        std::printf("two");
    });
    EXPECT_EQ(got.said, "two");
    EXPECT_EQ(got.status, 0);
  }
}

// A static session is destroyed by exit, in a task too.
TEST(ends, of_a_static_session) {
  const ended well = apart([] {
    static process::session session{0, nullptr, {.processes = 3}};
    if (session.run(return_two) == 2 && session.rank() == 0)
      std::printf("two");
    std::exit(0);
  });
  EXPECT_EQ(well.said, "two");
  EXPECT_EQ(well.status, 0);
  const ended in_a_task = apart([] {
    static process::session session{0, nullptr, {.processes = 3}};
    session.run([] { std::exit(3); });
  });
  std::vector<int> all = in_a_task.others;
  all.push_back(in_a_task.status);
  EXPECT_EQ(std::ranges::count(all, 3), 1) << in_a_task.said;
  EXPECT_EQ(std::ranges::count(all, 70), 2) << in_a_task.said;
}

TEST(ends, of_a_child_by_a_signal_are_called_so) {
  const ended got = apart([] {
    process::session* session = new process::session{0, nullptr, {.processes = 2}};
    const bool dies = session->rank() == 1;
    delete session;
    if (dies)
      std::raise(SIGTERM);
  });
  EXPECT_EQ(got.said, "nopal: process 1 was ended by signal 15 (Terminated) after its session\n");
  EXPECT_EQ(got.status, 70);
}

// The quotient as it is rounded where the program goes on; whether it has moved.
double third_after_a_move() {
  std::fesetround(FE_UPWARD);
  move_on();
  volatile double dividend = 1;
  volatile double third = dividend / 3;
  std::fesetround(FE_TONEAREST);
  return third;
}

// Which mode a task begins with in whichever process, though another one has left that in its own.
int modes_kept(int depth) {
  if (depth == 0)
    return std::fegetround() == FE_TONEAREST ? 1 : 0;
  process::task<int> left = process::spawn(modes_kept, depth - 1);
  const int right = modes_kept(depth - 1);
  return process::join(left) + right;
}
int leaves_its_mode(int depth) {
  if (depth == 0) {
    std::fesetround(FE_DOWNWARD);
    move_on();
    return std::fegetround() == FE_DOWNWARD ? 1 : 0;
  }
  process::task<int> left = process::spawn(leaves_its_mode, depth - 1);
  const int there = std::fegetround();
  const int rest = process::join(left);
  return there == FE_TONEAREST || there == FE_DOWNWARD ? rest : -1;
}

TEST(floating_point, moves_with_a_task) {
  std::fesetround(FE_UPWARD);
  volatile double dividend = 1;
  volatile double upward = dividend / 3;
  std::fesetround(FE_TONEAREST);
  EXPECT_NE(upward, dividend / 3);
  EXPECT_EQ(
      computed_by({.processes = 3},
                  [upward = double{upward}] { return third_after_a_move() == upward ? 1 : 0; })
          .said,
      "1");
}

TEST(floating_point, of_a_task_does_not_stay_in_a_process) {
  const ended got = apart([] {
    process::session session{0, nullptr, {.processes = 3}};
    const int left = session.run(leaves_its_mode, 3);
    const int after = std::fegetround();
    const int kept = session.run(modes_kept, 10);
    std::printf("%d", left == 1 && after == FE_TONEAREST && kept == 1024 ? 1 : 0);
    std::fflush(stdout);
  });
  EXPECT_EQ(got.said, "111");
}

} // namespace
} // namespace nopal_test
