// SPDX-License-Identifier: MIT
// How a program of several processes ends, what it refuses, and where it runs on threads.
#include "agents.h"

#include "nopal/base/die.h"
#include "nopal/mapped/calls.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using nopal::mapped::raw;
using test::agent;

// Each statement runs in a program of its own.
class mapped_death : public test::mapped {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    test::mapped::SetUp();
  }
};

void in_a_process(const std::function<void()>& call) {
  agent own, other;
  other.begin([] { pause(); });
  own.run(call);
}

TEST_F(mapped_death, any_process_ends_the_program_with_its_code) {
  EXPECT_EXIT(in_a_process([] { std::exit(3); }), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(in_a_process([] { _exit(4); }), testing::ExitedWithCode(4), "");
  EXPECT_EXIT(in_a_process([] {
                std::atexit([] { std::fputs("once\n", stderr); });
                std::exit(0);
              }),
              testing::ExitedWithCode(0), "^once\n$");
}

__attribute__((no_sanitize("undefined"))) void touch_nothing() {
  static volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

TEST_F(mapped_death, a_killed_process_ends_all_as_the_signal_does) {
  EXPECT_EXIT(in_a_process([] { raw(SYS_kill, raw(SYS_getpid), SIGKILL); }),
              testing::KilledBySignal(SIGKILL),
              "was killed by signal 9 .KILL., and the others end");
  EXPECT_EXIT(in_a_process([] { std::abort(); }), testing::KilledBySignal(SIGABRT),
              "killed by signal 6 .ABRT.");
  EXPECT_EXIT(in_a_process([] { std::raise(SIGTERM); }), testing::KilledBySignal(SIGTERM),
              "signal 15");
  EXPECT_EXIT(in_a_process([] { touch_nothing(); }), testing::KilledBySignal(SIGSEGV), "11 .SEGV.");
  EXPECT_EXIT(in_a_process([] { throw 1; }), testing::KilledBySignal(SIGABRT), "");
}

// The processes that a program leaves behind would keep this pipe open. A signal to their group
// goes to all of them.
TEST_F(mapped_death, nothing_is_left_when_any_process_or_the_group_is_killed_at_any_moment) {
  for (int round = 0; round < 50; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t program = fork();
    if (program == 0) {
      close(ends[0]);
      setpgid(0, 0);
      dup2(open("/dev/null", O_WRONLY), 2);
      agent first, second, third;
      agent* const all[] = {&first, &second, &third};
      for (agent* const each : all)
        each->begin([&] {
          const long pid = raw(SYS_getpid);
          EXPECT_EQ(write(ends[1], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
          for (;;) {
            std::free(std::malloc(1 << 20));
            std::thread{[] {}}.join();
          }
        });
      pause();
    }
    close(ends[1]);
    long pids[4] = {program};
    for (int i = 1; i < 4; ++i)
      ASSERT_EQ(read(ends[0], &pids[i], sizeof *pids), static_cast<ssize_t>(sizeof *pids));
    for (int i = 0; i < round * 100; ++i)
      sched_yield();
    const bool group = round % 5 == 4;
    const int signal = group ? SIGTERM : SIGKILL;
    EXPECT_EQ(kill(group ? -program : static_cast<pid_t>(pids[round % 5]), signal), 0);
    int status = 0;
    EXPECT_EQ(waitpid(program, &status, 0), program);
    EXPECT_EQ(status, signal);
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
  }
}

// What fails is said, and what would be dangerous ends the program.
long call_refused(int number) {
  switch (number) {
  case SYS_personality:
    return personality(ADDR_NO_RANDOMIZE);
  case SYS_rt_sigaction:
    return std::signal(SIGSYS, [](int) {}) == SIG_ERR ? -1 : 0;
  case SYS_tgkill:
    return setgid(getgid());
  case SYS_timer_create: {
    sigevent by_thread{};
    by_thread.sigev_notify = SIGEV_THREAD;
    by_thread.sigev_notify_function = [](sigval) {};
    timer_t timer{};
    return timer_create(CLOCK_MONOTONIC, &by_thread, &timer);
  }
  case SYS_execve:
    return execl("/bin/true", "true", nullptr);
  case SYS_execveat:
    return syscall(SYS_execveat, AT_FDCWD, "/bin/true", nullptr, nullptr, 0);
  default:
    return syscall(number, 0, 0, 0, 0, 0);
  }
}

TEST_F(mapped_death, calls_that_cannot_mean_the_program_are_refused_in_a_sentence) {
  for (const nopal::mapped::refusal& each : nopal::mapped::refusals()) {
    const std::string name = std::string{each.name}.substr(0, std::string{each.name}.find(' '));
    const auto call = [&] {
      in_a_process([&] {
        errno = 0;
        std::exit(call_refused(each.number) == -1 && errno == EPERM ? 5 : 6);
      });
    };
    if (each.ends)
      EXPECT_EXIT(call(), testing::ExitedWithCode(70), name + ".*would change one process");
    else
      EXPECT_EXIT(call(), testing::ExitedWithCode(5), name + ".*is refused .EPERM.");
  }
  EXPECT_EXIT(in_a_process([] { std::exit(setuid(0) == 0); }), testing::ExitedWithCode(70),
              "^nopal: setgid .setuid,.*would change one process");
  EXPECT_EXIT(in_a_process([] { std::exit(personality(0xffffffff) == -1); }),
              testing::ExitedWithCode(0), "^$"); // a question
}

TEST_F(mapped_death, main_executes_another_program_in_the_place_of_all) {
  EXPECT_EXIT(
      {
        agent own;
        own.begin([] { pause(); });
        execl("/bin/sh", "sh", "-c", "echo executed >&2; exit 8", nullptr);
      },
      testing::ExitedWithCode(8), "^executed\n$");
}

// A program that is executed from here, with something forbidden before. It prints whether it has
// processes.
void execute_where(const std::function<void()>& forbid) {
  forbid();
  execl("/proc/self/exe", "mapped_ends_test", "--gtest_filter=DISABLED_mapped.says_what_it_has",
        "--gtest_also_run_disabled_tests", nullptr);
}

TEST(DISABLED_mapped, says_what_it_has) {
  int seen = 0;
  std::fputs(nopal::mapped::on() ? "processes\n" : "threads\n", stderr);
  test::in_processes(3, [&](unsigned) { __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED); });
  std::_Exit(seen);
}

void forbid_call(unsigned number) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_F(mapped_death, a_program_that_is_executed_has_processes_again) {
  EXPECT_EXIT(execute_where([] {}), testing::ExitedWithCode(3), "^processes\n$");
}

TEST_F(mapped_death, where_something_is_forbidden_the_program_says_so_and_has_threads) {
  EXPECT_EXIT(execute_where([] { forbid_call(SYS_seccomp); }), testing::ExitedWithCode(3),
              "runs on threads.*seccomp.*not permitted.\nthreads\n$");
  EXPECT_EXIT(execute_where([] { forbid_call(SYS_memfd_create); }), testing::ExitedWithCode(3),
              "runs on threads.*memfd_create.*not permitted.\nthreads\n$");
  EXPECT_EXIT(execute_where([] {
                const rlimit few{std::size_t{4} << 30, std::size_t{4} << 30};
                setrlimit(RLIMIT_AS, &few);
              }),
              testing::ExitedWithCode(3), "runs on threads.*8 TiB.*\nthreads\n$");
  EXPECT_EXIT(execute_where([] {
                const rlimit few{std::size_t{4} << 30, std::size_t{4} << 30};
                setrlimit(RLIMIT_FSIZE, &few);
              }),
              testing::ExitedWithCode(3), "runs on threads.*ulimit -f.*\nthreads\n$");
  EXPECT_EXIT(execute_where([] { raw(SYS_personality, ADDR_NO_RANDOMIZE); }),
              testing::ExitedWithCode(3), "runs on threads.*not randomised.*\nthreads\n$");
  EXPECT_EXIT(execute_where([] { setenv("NOPAL_MAPPED", "0", 1); }), testing::ExitedWithCode(3),
              "^threads\n$");
}

TEST_F(mapped_death, what_the_variable_may_be_is_said) {
  EXPECT_EXIT(execute_where([] { setenv("NOPAL_MAPPED", "1", 1); }), testing::ExitedWithCode(3),
              "^processes\n$");
  for (const char* const value : {"yes", "no", "2", "00", "0 ", ""})
    EXPECT_EXIT(execute_where([&] { setenv("NOPAL_MAPPED", value, 1); }),
                testing::ExitedWithCode(nopal::base::exit_status_died),
                "^nopal: NOPAL_MAPPED is \"" + std::string{value} +
                    "\", but it must be 0, for "
                    "threads, or 1, for processes\n$");
}

TEST_F(mapped_death, a_sandbox_without_personality_does_no_harm) {
  EXPECT_EXIT(execute_where([] { forbid_call(SYS_personality); }), testing::ExitedWithCode(3),
              "^processes\n$");
}

} // namespace
