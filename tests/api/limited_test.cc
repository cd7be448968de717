// SPDX-License-Identifier: MIT
// Where memory is limited or locked, a program works or ends with a sentence that names the limit.
#include "nopal/base/die.h"
#include "nopal/base/limits.h"
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"
#include "tests/stack/limited.h"

#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <vector>

// The shadow memory of sanitizers counts too, as does Valgrind's own memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(NOPAL_TSAN)

namespace nopal_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void forks() {
  for (int i = 0; i < 20; ++i)
    be_stolen();
  if (fib(15) != 610)
    std::_Exit(1);
}

template <int Count> void fibers() {
  nopal::channel<int> begun;
  nopal::channel<int> go_on;
  nopal::run([&] {
    for (int i = 0; i < Count; ++i)
      nopal::spawn([&] {
        begun.send(1);
        go_on.recv();
      });
    for (int i = 0; i < Count; ++i)
      begun.recv();
    for (int i = 0; i < Count; ++i)
      go_on.send(1);
  });
}

void deadline() {
  nopal::cancel_scope s{std::chrono::milliseconds{1}};
  s.fork([] {
    for (;;)
      nopal::poll();
  });
  if (s.try_join())
    std::_Exit(1);
}

struct named {
  const char* name;
  void (*run)();
  bool spawns_many = false;
};
constexpr named programs[] = {{"fork", forks},
                              {"a fiber", fibers<1>},
                              {"1000 fibers", fibers<1000>, true},
                              {"a deadline", deadline}};

// What a process of its own says, and how it ends.
struct outcome {
  std::string said;
  int status = -1;

  bool works() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  bool ends_naming(const std::string& limit) const {
    return WIFEXITED(status) && WEXITSTATUS(status) == nopal::base::exit_status_died &&
           said.starts_with("nopal: ") && said.find(limit) != std::string::npos;
  }
};

constexpr int kNotPossible = 77;
constexpr int kRefused = 78; // the program's own `new`, by std::bad_alloc

outcome outcome_of(const std::function<bool()>& begin, void (*run)()) {
  outcome seen;
  int ends[2];
  if (pipe(ends) != 0)
    return seen;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    nopal::configure({.num_workers = 2});
    if (!begin())
      _exit(kNotPossible);
    try {
      run();
    } catch (const std::bad_alloc&) { // a spawn allocates before its fiber has a stack
      _exit(kRefused);
    }
    _exit(0);
  }
  close(ends[1]);
  char part[512];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    seen.said.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(child, &seen.status, 0);
  return seen;
}

constexpr const char* kNoLimit = "nothing that is ever said";

// Each program works, or names the limit. One that spawns many fibers may get what `new` throws.
void try_all(const std::string& limit, const std::function<bool()>& begin) {
  for (const named& program : programs) {
    const outcome seen = outcome_of(begin, program.run);
    if (WIFEXITED(seen.status) && WEXITSTATUS(seen.status) == kNotPossible)
      continue;
    const bool refused = program.spawns_many && limit != kNoLimit && WIFEXITED(seen.status) &&
                         WEXITSTATUS(seen.status) == kRefused;
    EXPECT_TRUE(seen.works() || seen.ends_naming(limit) || refused)
        << program.name << " ended with status " << seen.status << " and said: " << seen.said;
  }
}
void expect_works(const std::function<bool()>& begin) { try_all(kNoLimit, begin); }

class limited : public testing::Test {
protected:
  void SetUp() override {
    if (on_valgrind())
      GTEST_SKIP() << "Valgrind's own memory counts too";
    if (on_views())
      GTEST_SKIP() << "shared memory and processes have limits of their own (tests/mapped)";
  }
};

TEST_F(limited, addresses) {
  for (const std::size_t mib : {8000u, 2000u, 500u, 200u, 100u, 50u, 30u})
    try_all("ulimit -v", [=] { return limit(RLIMIT_AS, mib * kMiB); });
}

// No table is so large as to need this much before it is used.
TEST_F(limited, data) {
  for (const std::size_t mib : {1000u, 135u, 60u, 20u, 8u, 4u, 3u})
    try_all("ulimit -d", [=] { return limit(RLIMIT_DATA, mib * kMiB); });
  for (const named& program : {programs[0], programs[1], programs[3]})
    EXPECT_TRUE(outcome_of([] { return limit(RLIMIT_DATA, 60 * kMiB); }, program.run).works())
        << program.name;
}

TEST_F(limited, data_after_the_first_fork) {
  for (const std::size_t mib : {100u, 20u, 8u})
    try_all("ulimit -d", [=] {
      forks();
      fibers<1>();
      return limit(RLIMIT_DATA, mib * kMiB);
    });
}

TEST_F(limited, stack_of_the_first_thread) {
  for (const std::size_t kib : {100u, 1000u})
    expect_works([=] { return limit(RLIMIT_STACK, kib << 10); });
  expect_works([] {
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_STACK, &none) == 0;
  });
}

TEST_F(limited, mappings) {
  for (const std::size_t left : {400u, 40u})
    try_all("vm.max_map_count", [=] {
      const std::size_t most = nopal::base::max_mappings();
      if (most > 200000)
        return false;
      const std::size_t page = nopal::base::page_size();
      void* const all = mmap(nullptr, (most + 2) * page, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      std::size_t first = 0;
      while (mprotect(static_cast<char*>(all) + 2 * first * page, page, PROT_READ) == 0)
        ++first; // until there are no more
      for (std::size_t i = 0; 2 * i < left; ++i)
        mprotect(static_cast<char*>(all) + 2 * (first - 1 - i) * page, page, PROT_NONE);
      return true;
    });
}

// How memory is locked. A process with this privilege may lock as much as it likes.
constexpr int kWays[] = {MCL_FUTURE, MCL_CURRENT | MCL_FUTURE, MCL_CURRENT};

TEST_F(limited, memory_that_is_locked_before) {
  for (const int way : kWays)
    expect_works([=] { return geteuid() == 0 && mlockall(way) == 0; });
}

TEST_F(limited, memory_that_is_locked_after_the_first_fork) {
  for (const int way : kWays)
    expect_works([=] {
      forks();
      fibers<3>();
      return geteuid() == 0 && mlockall(way) == 0;
    });
}

TEST_F(limited, memory_that_is_locked_for_a_while) {
  expect_works([] {
    forks();
    if (geteuid() != 0 || mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
      return false;
    fibers<40>();
    return munlockall() == 0;
  });
}

// Without a budget every dead page is to be given back.
template <class Before> std::uint64_t pages_returned(Before before) {
  const auto returned = apart([before] {
    nopal::configure({.num_workers = 2, .stack_budget = 0});
    if (!before())
      return std::uint64_t{100000};
    for (int i = 0; i < 20; ++i)
      be_stolen();
    return fib(12) == 144 ? nopal::stats().pages_returned : 200000;
  });
  return returned.value_or(300000);
}

TEST_F(limited, memory_that_is_locked_is_given_back_where_the_kernel_can) {
  const auto lock = [] { return mlockall(MCL_CURRENT | MCL_FUTURE) == 0; };
  if (apart([lock] { return geteuid() == 0 && lock() ? 1 : 0; }) != 1u)
    GTEST_SKIP() << "this process may not lock its memory";
  EXPECT_GT(pages_returned(lock), 0u);
  EXPECT_LT(pages_returned(lock), 100000u);
#if !defined(NOPAL_CHECKS) // a check build notices the dead pages
  EXPECT_EQ(pages_returned([lock] { return forbid_discarding_what_is_locked() && lock(); }), 0u);
#endif
}

// Without that privilege, whatever is mapped and locked counts.
bool lock_as_anybody(std::size_t bytes, int how) {
  return limit(RLIMIT_MEMLOCK, bytes) && (geteuid() != 0 || setresuid(65534, 65534, 65534) == 0) &&
         mlockall(how) == 0;
}

TEST_F(limited, memory_that_anybody_locks_before) {
  for (const std::size_t mib : {8u, 6u, 1u})
    try_all("ulimit -l", [=] { return lock_as_anybody(mib * kMiB, MCL_FUTURE); });
}

TEST_F(limited, memory_that_anybody_locks_before_with_small_stacks) {
  try_all("ulimit -l", [] {
    setenv("NOPAL_STACK_SIZE", "64K", 1);
    setenv("NOPAL_FIBER_STACK_SIZE", "32K", 1);
    return lock_as_anybody(8 * kMiB, MCL_FUTURE);
  });
}

TEST_F(limited, memory_that_anybody_locks_after_the_first_fork) {
  for (const std::size_t mib : {8u, 1u})
    try_all("ulimit -l", [=] {
      forks();
      fibers<1>();
      return lock_as_anybody(mib * kMiB, MCL_FUTURE);
    });
}

} // namespace
} // namespace nopal_test

#endif
