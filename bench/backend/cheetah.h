// SPDX-License-Identifier: MIT
// OpenCilk's runtime (cheetah), by path: what its compiler makes of a function that forks, written
// out. That compiler inlines the runtime's ABI from bitcode, and so does Clang here (peers.cmake).
//
// A strand that a thief resumes keeps its frame and has another stack below it. So such a function
// - finds its frame by the base pointer: it makes room on the stack that no compiler foresees,
// - is not inlined, for its caller would put the stack pointer back after it,
// - has no two variables in one place, for it is resumed where it forked (a flag in peers.cmake).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "bench/harness.h"

extern "C" {
#include <runtime/frame.h>

extern unsigned __cilkrts_nproc;
void __cilkrts_enter_frame(__cilkrts_stack_frame*);
void __cilkrts_enter_frame_helper(__cilkrts_stack_frame*, __cilkrts_stack_frame* parent, bool);
int __cilk_prepare_spawn(__cilkrts_stack_frame*); // returns a second time, then 1, to a thief
void __cilkrts_detach(__cilkrts_stack_frame*, __cilkrts_stack_frame* parent);
void __cilk_sync_nothrow(__cilkrts_stack_frame*);
void __cilk_parent_epilogue(__cilkrts_stack_frame*);
void __cilk_helper_epilogue(__cilkrts_stack_frame*, __cilkrts_stack_frame* parent, bool);
}

#define BENCH_TASK [[gnu::noinline]] static
#define BENCH_SCOPE(s)                                                                             \
  asm volatile("" ::"r"(__builtin_alloca(bench::no_bytes)));                                       \
  bench::cilk_scope s
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    if (__cilk_prepare_spawn(&s.frame) == 0)                                                       \
      bench::spawn(                                                                                \
          &s.frame, [](auto* to, auto... arguments) { *to = fn(arguments...); }, &(result),        \
          __VA_ARGS__);                                                                            \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...)                                                                \
  do {                                                                                             \
    if (__cilk_prepare_spawn(&s.frame) == 0)                                                       \
      bench::spawn(&s.frame, [](auto... arguments) { fn(arguments...); }, __VA_ARGS__);            \
  } while (0)
#define BENCH_JOIN(s) __cilk_sync_nothrow(&s.frame)

namespace bench {

inline volatile std::size_t no_bytes = 0; // the compiler does not know it

struct cilk_scope {
  [[gnu::always_inline]] cilk_scope() noexcept { __cilkrts_enter_frame(&frame); }
  [[gnu::always_inline]] ~cilk_scope() { __cilk_parent_epilogue(&frame); }
  cilk_scope(const cilk_scope&) = delete;
  cilk_scope& operator=(const cilk_scope&) = delete;

  __cilkrts_stack_frame frame;
};

// The child. Does not return if its parent was stolen.
template <class F, class... Arguments>
[[gnu::noinline]] void spawn(__cilkrts_stack_frame* parent, F f, Arguments... arguments) noexcept {
  __cilkrts_stack_frame frame;
  __cilkrts_enter_frame_helper(&frame, parent, false);
  __cilkrts_detach(&frame, parent);
  f(arguments...);
  __cilk_helper_epilogue(&frame, parent, false);
}

// The runtime reads its number of workers before main(), which reads the options.
[[gnu::constructor(101)]] static void choose_workers(int argc, char** argv) {
  const char* workers = "1";
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--workers") == 0)
      workers = argv[i + 1];
  }
  setenv("CILK_NWORKERS", workers, 1);
}

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) {
    if (__cilkrts_nproc != workers) {
      throw std::invalid_argument("--workers " + std::to_string(workers) + " was not understood; " +
                                  "accepted is the number as a word of its own");
    }
  }
  // One computation, however many functions that fork are called.
  template <class F> [[gnu::noinline]] void run(F f) {
    BENCH_SCOPE(whole);
    f();
  }
  counters read_counters() const { return {}; }
};

} // namespace bench
