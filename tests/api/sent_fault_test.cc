// SPDX-License-Identifier: MIT
// A SIGSEGV that is sent, and a fault that is not Nopal's, do what they would do without Nopal's
// handler, which is installed at the first fork.
#include "tests/api/support.h"

#include <signal.h>
#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <thread>

#if !defined(NOPAL_TSAN) // ThreadSanitizer calls a program's handlers itself, with other masks

namespace nopal_test {
namespace {

using send = void (*)();
constexpr send by_raise = [] { raise(SIGSEGV); };
constexpr send by_kill = [] { kill(getpid(), SIGSEGV); };
constexpr send by_thread = [] { pthread_kill(pthread_self(), SIGSEGV); };
constexpr send by_queue = [] { sigqueue(getpid(), SIGSEGV, {}); };
constexpr send all[] = {by_raise, by_kill, by_thread, by_queue};

volatile sig_atomic_t calls = 0;
volatile sig_atomic_t blocked = 0; // in the handler: 1 SIGSEGV, 2 SIGUSR1
void* page = nullptr;

void note() {
  sigset_t now;
  sigprocmask(SIG_BLOCK, nullptr, &now);
  blocked = sigismember(&now, SIGSEGV) + 2 * sigismember(&now, SIGUSR1);
  calls = calls + 1;
}
void simple(int) { note(); }
void with_info(int, siginfo_t* info, void* context) {
  if (info != nullptr && context != nullptr && info->si_signo == SIGSEGV)
    note();
  if (info->si_addr == page) // a fault, which would come again
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

void handle(int flags, bool mask = false) {
  struct sigaction how{};
  if ((flags & SA_SIGINFO) != 0)
    how.sa_sigaction = with_info;
  else
    how.sa_handler = simple;
  how.sa_flags = flags;
  if (mask)
    sigaddset(&how.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &how, nullptr);
}

// Compilers do not know it: of an access that they know to fault they may make anything. It is not
// null, which UndefinedBehaviorSanitizer would name.
int* volatile nowhere = reinterpret_cast<int*>(std::uintptr_t{64});

// Calls `prepare`, forks and calls `act`, in a process of its own. Returns how it ends: its exit
// status, or 1000 plus the signal.
template <class Prepare, class Act> int ended(Prepare prepare, Act act) {
  const pid_t child = fork();
  if (child == 0) {
    nopal::configure({.num_workers = 2});
    prepare();
    be_stolen();
    _exit(act());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

constexpr int killed = 1000 + SIGSEGV;
constexpr auto by_default = [] { signal(SIGSEGV, SIG_DFL); };

TEST(sent_fault_death, kills_by_default) {
  for (const send how : all) {
    EXPECT_EQ(ended(by_default,
                    [how] {
                      how();
                      return 0;
                    }),
              killed);
    EXPECT_EQ(ended(by_default,
                    [how] {
                      nopal::scope s;
                      s.fork(how);
                      s.join();
                      return 0;
                    }),
              killed);
  }
}

// Each signal that is sent is ignored; a fault that comes after that still kills.
TEST(sent_fault_death, is_ignored_if_that_was_asked_for) {
  for (const send how : all)
    EXPECT_EQ(ended([] { signal(SIGSEGV, SIG_IGN); },
                    [how] {
                      how();
                      how();
                      be_stolen();
                      how();
                      return 5;
                    }),
              5);
  EXPECT_EQ(ended([] { signal(SIGSEGV, SIG_IGN); },
                  [] {
                    raise(SIGSEGV);
                    *nowhere = 1;
                    return 5;
                  }),
            killed);
}

TEST(sent_fault_death, goes_to_the_handler) {
  for (const int flags : {0, SA_SIGINFO})
    for (const send how : all)
      EXPECT_EQ(ended([flags] { handle(flags); },
                      [how] {
                        how();
                        how();
                        return calls == 2 && blocked == 1 ? 6 : 0;
                      }),
                6);
}

TEST(sent_fault_death, is_handled_with_the_masks_that_were_asked_for) {
  for (const int flags : {0, SA_SIGINFO}) {
    EXPECT_EQ(ended([flags] { handle(flags | SA_NODEFER); },
                    [] {
                      raise(SIGSEGV);
                      return 10 + blocked;
                    }),
              10);
    EXPECT_EQ(ended([flags] { handle(flags, true); },
                    [] {
                      raise(SIGSEGV);
                      return 10 + blocked;
                    }),
              13);
  }
}

TEST(sent_fault_death, is_handled_once_if_that_was_asked_for) {
  for (const int flags : {0, SA_SIGINFO}) {
    EXPECT_EQ(ended([flags] { handle(flags | static_cast<int>(SA_RESETHAND)); },
                    [] {
                      raise(SIGSEGV);
                      return 10 + calls;
                    }),
              11);
    EXPECT_EQ(ended([flags] { handle(flags | static_cast<int>(SA_RESETHAND)); },
                    [] {
                      raise(SIGSEGV);
                      raise(SIGSEGV);
                      return 0;
                    }),
              killed);
  }
}

// A call goes on behind the handler, or does not, as the program has asked.
TEST(sent_fault_death, interrupts_calls_as_before) {
  for (const bool restarts : {false, true})
    EXPECT_EQ(ended([restarts] { handle(restarts ? SA_RESTART : 0); },
                    [restarts] {
                      int ends[2];
                      if (pipe(ends) != 0)
                        return 0;
                      const pthread_t reader = pthread_self();
                      std::atomic<bool> done{false};
                      std::thread other{[&] {
                        for (int i = 0; !done; ++i) {
                          pthread_kill(reader, SIGSEGV);
                          std::this_thread::yield();
                          if (restarts && i == 200)
                            done = write(ends[1], "x", 1) == 1;
                        }
                      }};
                      char byte = 0;
                      const bool got = read(ends[0], &byte, 1) == 1;
                      const bool interrupted = !got && errno == EINTR;
                      done = true;
                      other.join();
                      return (restarts ? got : interrupted) ? 7 : 8;
                    }),
              7);
}

TEST(own_fault_death, goes_to_the_handler_that_mends_it) {
  EXPECT_EQ(ended(
                [] {
                  handle(SA_SIGINFO);
                  page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                },
                [] {
                  nopal::scope s;
                  s.fork([] { *static_cast<volatile int*>(page) = 1; });
                  s.join();
                  return calls == 1 ? 9 : 0;
                }),
            9);
}

TEST(own_fault_death, kills_by_default) {
  EXPECT_EQ(ended(by_default,
                  [] {
                    nopal::scope s;
                    s.fork([] { *nowhere = 1; });
                    s.join();
                    return 0;
                  }),
            killed);
}

} // namespace
} // namespace nopal_test

#endif
