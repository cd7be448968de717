// SPDX-License-Identifier: MIT
// Forks in C and in C++ read the same limit: where nobody wants anything of the strand, none takes
// the slow path; where somebody does, the next one takes it. On the metal, since another layout of
// memory may hide that a fork reads another word.
#include <nopal/cancel.h>
#include <nopal/fiber.h>
#include <nopal/fork.h>
#include <nopal/runtime.h>
#include <nopal/sleep.h>

#include "check.h"
#include "fast_path.h"
#include "tests/patience.h"

#include "nopal/sched/forks.h"

#include <atomic>
#include <chrono>

// The linker gives calls of sched::fork_slow to the first, and the function itself has the second
// name.
long slow_forks = 0;
bool real_fork_slow(nopal::join::fork_record*, const nopal::sched::body_calls&, void*) noexcept
    asm(NOPAL_REAL);
bool counted_fork_slow(nopal::join::fork_record*, const nopal::sched::body_calls&, void*) noexcept
    asm(NOPAL_WRAPPED);
bool counted_fork_slow(nopal::join::fork_record* fork, const nopal::sched::body_calls& child,
                       void* closure) noexcept {
  ++slow_forks;
  return real_fork_slow(fork, child, closure);
}

namespace {

long fib_by_cpp(long n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib_by_cpp, n - 1);
  const long y = fib_by_cpp(n - 2);
  s.join();
  return x + y;
}

void fork_until_by_cpp(int (*done)()) {
  while (done() == 0) {
    int x = 0;
    nopal::scope s;
    s.fork(x, [x] { return x + 1; });
    s.join();
  }
}

// fib(25) has 121,392 forks. The first one of the region tells the deque its stack.
void count(const char* by, long (*fib)(long)) {
  long slow = 0;
  nopal::affine([&] {
    slow = -slow_forks;
    CHECK(fib(25) == 75025);
    slow += slow_forks;
  });
  printf("%s: %ld forks of 121392 took the slow path\n", by, slow);
  CHECK(slow > 0 && slow < 10);
}

std::chrono::steady_clock::time_point end;
std::atomic<bool> other_ran{false};
int too_late() { return std::chrono::steady_clock::now() > end; }
int other_has_run() { return other_ran.load() || too_late() != 0; }

void cancel(const char* by, void (*fork_until)(int (*)())) {
  end = std::chrono::steady_clock::now() + nopal_test::patience;
  nopal::cancel_scope s{std::chrono::milliseconds(20)};
  s.fork([&] { fork_until(too_late); });
  static_cast<void>(s.try_join());
  CHECK(too_late() == 0);
  printf("%s: the deadline was heeded\n", by);
}

// With one worker. A strand that heeds no tick would get a spare thread beside it, and no count.
void preempt(const char* by, void (*fork_until)(int (*)())) {
  end = std::chrono::steady_clock::now() + nopal_test::patience;
  other_ran = false;
  const auto before = nopal::stats().preemptions;
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::sleep_for(std::chrono::milliseconds(1));
      other_ran = true;
    });
    nopal::spawn([&] { fork_until(other_has_run); });
  });
  CHECK(other_ran.load() && nopal::stats().preemptions > before);
  printf("%s: the strand was preempted\n", by);
}

} // namespace

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  nopal::configure({.num_workers = 1});
  count("C++", fib_by_cpp);
  count("fibril.h", fib_by_fibril);
  count("nopal.h", fib_by_scope);
  count("fibril.h, with words on the stack", fib_with_words);
  cancel("C++", fork_until_by_cpp);
  cancel("fibril.h", fork_until_by_fibril);
  cancel("nopal.h", fork_until_by_scope);
  preempt("C++", fork_until_by_cpp);
  preempt("fibril.h", fork_until_by_fibril);
  preempt("nopal.h", fork_until_by_scope);
}
