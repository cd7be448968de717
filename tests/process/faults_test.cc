// SPDX-License-Identifier: MIT
// Faults of a program that begins a session, then installs a handler of its own, then forks on
// threads: overflows of both kinds of stacks end in a sentence, and other faults come to the
// program's handler.
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "tests/process/processes.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>

namespace nopal_test {
namespace {

constexpr int by_program = 3; // what the program's handler exits with
struct sigaction before_program;

void end(int, siginfo_t*, void*) { _exit(by_program); }

// What has come first may be the program's, or Nopal's: the handler asks the one before it.
void ask_the_one_before(int signal, siginfo_t* info, void* context) {
  if ((before_program.sa_flags & SA_SIGINFO) != 0)
    return before_program.sa_sigaction(signal, info, context);
  std::signal(signal, SIG_DFL);
}

using handler = void (*)(int, siginfo_t*, void*);
void install(handler wanted) {
  struct sigaction how{};
  how.sa_sigaction = wanted;
  how.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &how, &before_program);
}

int returns_1() { return 1; }

int fork_once() {
  nopal::scope s;
  int result = 0;
  s.fork(result, returns_1);
  s.join();
  return result;
}

// How a process ends that has a session, then this handler, then forks, and then acts.
template <class Act> ended ended_with(handler wanted, Act act) {
  return apart([&] {
    std::signal(SIGSEGV, SIG_DFL); // sanitizers have handlers
    process::session session{0, nullptr, {.region_size = std::size_t{64} << 10}};
    install(wanted);
    if (fork_once() == 1)
      act(session);
  });
}

int deep(int depth) {
  volatile char frame[512];
  frame[0] = 1;
  return depth == 0 ? 0 : deep(depth - 1) + frame[0];
}
void overflow_a_fiber(process::session&) {
  nopal::run([] { nopal::spawn([] { deep(1'000'000); }); });
}
int deep_task(int depth) {
  volatile char frame[512];
  frame[0] = 1;
  if (depth == 0)
    return 0;
  process::task<int> child = process::spawn(deep_task, depth - 1);
  return process::join(child) + frame[0];
}
void overflow_the_region(process::session& session) { session.run(deep_task, 10'000); }

// Compilers do not know it: of an access that they know to fault they may make anything. It is not
// null, which UndefinedBehaviorSanitizer would name.
int* volatile nowhere = reinterpret_cast<int*>(std::uintptr_t{64});
void access_nothing(process::session&) { *nowhere = 1; }

const std::string of_fiber = "stack overflow: a spawned fiber needs more than";
const std::string of_region = "the tasks of a process need more than the uni-address region";

TEST(faults, behind_a_handler_of_the_program_are_named) {
  for (const handler wanted : {&end, &ask_the_one_before}) {
    const ended fiber = ended_with(wanted, overflow_a_fiber);
    EXPECT_NE(fiber.said.find(of_fiber), std::string::npos) << fiber.said;
    EXPECT_EQ(fiber.status, 70);
    const ended region = ended_with(wanted, overflow_the_region);
    EXPECT_NE(region.said.find(of_region), std::string::npos) << region.said;
    EXPECT_EQ(region.status, 70);
  }
}

TEST(faults, that_are_not_nopals_come_to_the_programs_handler) {
  EXPECT_EQ(ended_with(&end, access_nothing).status, by_program);
  EXPECT_EQ(ended_with(&ask_the_one_before, access_nothing).status, 128 + SIGSEGV);
}

// The handlers of Nopal that are below the program's do not keep a later session from its own.
TEST(faults, of_a_second_session_are_named) {
  const ended got = apart([] {
    std::signal(SIGSEGV, SIG_DFL);
    {
      process::session first{0, nullptr};
      install(&end);
    }
    process::session second{0, nullptr, {.region_size = std::size_t{64} << 10}};
    overflow_the_region(second);
  });
  EXPECT_NE(got.said.find(of_region), std::string::npos) << got.said;
  EXPECT_EQ(got.status, 70);
}

} // namespace
} // namespace nopal_test
