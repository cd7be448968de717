// SPDX-License-Identifier: MIT
// The serial elision that tells two figures, fork depth and serial stack pages, of the bounds on
// space.
//
// D is the largest number of frames with an open scope on any path of calls; S1 is how many pages
// of a stack of its own the run has touched (fibril-spaa16, 4.4). Every task stays a call, as in
// the forking programs; its time is no baseline.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/counted_stack.h"
#include "bench/harness.h"

#if defined(__clang__)
#define BENCH_TASK [[gnu::noinline]] static
#else
#define BENCH_TASK [[gnu::noinline, gnu::noclone]] static
#endif
#define BENCH_SCOPE(s) const bench::counted_scope s
#define BENCH_FORK(s, result, fn, ...) (result) = fn(__VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...) fn(__VA_ARGS__)
#define BENCH_JOIN(s) static_cast<void>(s)

namespace bench {

class counted_scope {
public:
  counted_scope() { deepest = std::max(deepest, ++open); }
  ~counted_scope() { --open; }
  counted_scope(const counted_scope&) = delete;
  counted_scope& operator=(const counted_scope&) = delete;

  static inline std::uint64_t open = 0;
  static inline std::uint64_t deepest = 0;
};

class runtime {
public:
  static constexpr bool parallel = false;
  explicit runtime(unsigned) {}
  template <class F> void run(F f) {
    counted_scope::deepest = 0;
    stack_.run(f);
  }
  counters read_counters() const {
    counters known;
    known.depth = counted_scope::deepest;
    known.serial_pages = stack_.pages();
    return known;
  }

private:
  counted_stack stack_;
};

} // namespace bench
