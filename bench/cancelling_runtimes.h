// SPDX-License-Identifier: MIT
// What the runtimes of the bench `cancelling` search, and how each of them searches: `run` calls a
// function in the runtime; `find` looks for the answer in a loop or a tree, and stops at it; `both`
// calls two functions, and with one thread the first function runs first.
//
// The work of a piece and of a leaf is compiled alike for all: what differs is the runtime.
#pragma once

#include "bench/harness.h"
#include "bench/random.h"

#if defined(BENCH_NOPAL)
#include <nopal/cancelable.h>
#include <nopal/either.h>
#include <nopal/loop.h>
#include <nopal/runtime.h>
#elif defined(BENCH_TBB)
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#else
#include <omp.h>
#endif

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace bench {

using clock = std::chrono::steady_clock;

inline double us_between(clock::time_point begin, clock::time_point end) {
  return std::chrono::duration<double, std::micro>{end - begin}.count();
}
inline double since_s(clock::time_point begin) { return us_between(begin, clock::now()) / 1e6; }

// The time of the answer, which the first thread that finds it writes.
struct first_answer {
  std::atomic<bool> claimed{false};
  clock::time_point at{};

  bool claim() {
    if (claimed.exchange(true))
      return false;
    at = clock::now();
    return true;
  }
};

// A number is sought in a row of numbers, at an unknown place; a loop looks at them piece by piece.
struct numbers {
  static constexpr long pieces = 512; // as many as a loop of Nopal has

  long count;
  std::uint64_t sought;
  first_answer* answer;

  static std::uint64_t at(long place) { return mixed(static_cast<std::uint64_t>(place)); }
  // Returns whether the number is in this piece.
  [[gnu::noinline]] bool look_at(long piece) const {
    const long end = count * (piece + 1) / pieces;
    for (long i = count * piece / pieces; i < end; ++i)
      if (at(i) == sought)
        return answer->claim();
    return false;
  }
};

// A tree of tasks of which one leaf, at an unknown place, has the answer.
struct tree {
  static constexpr int fan_out = 4;

  int levels;
  std::uint64_t sought;
  first_answer* answer;

  std::uint64_t leaves() const { return 1ull << (2 * levels); }
  static std::uint64_t value_of(std::uint64_t leaf) {
    for (int i = 0; i < 64; ++i)
      leaf = mixed(leaf);
    return leaf;
  }
  // Returns whether this leaf has the answer.
  [[gnu::noinline]] bool leaf(std::uint64_t at) const {
    return value_of(at) == sought && answer->claim();
  }
};

#if defined(BENCH_NOPAL)

class own_runtime {
public:
  static constexpr long last_case = 6;

  explicit own_runtime(unsigned workers) { nopal::configure({.num_workers = workers}); }
  template <class F> void run(F f) { nopal::run(f); }
  counters read_counters() const {
    counters now;
    now.steals = nopal::stats().steals;
    return now;
  }

  void find(const numbers& n) {
    nopal::cancel_scope region;
    region.fork([&] {
      nopal::for_index(0L, numbers::pieces, [&](long piece) {
        if (n.look_at(piece))
          region.cancel();
      });
    });
    static_cast<void>(region.try_join());
  }

  void find(const tree& t) {
    nopal::cancel_scope region;
    region.fork([&] { look(t, 0, 0, region); });
    static_cast<void>(region.try_join());
  }

  template <class F, class G> static void both(const F& f, const G& g) { nopal::invoke(f, g); }

private:
  static void look(const tree& t, int level, std::uint64_t at, nopal::cancel_scope& region) {
    if (level == t.levels) {
      if (t.leaf(at))
        region.cancel();
      return;
    }
    nopal::scope s;
    for (int i = 0; i < tree::fan_out; ++i)
      s.fork([&t, level, next = at * tree::fan_out + i, &region] {
        look(t, level + 1, next, region);
      });
    s.join();
  }
};

#elif defined(BENCH_TBB)

class own_runtime {
public:
  static constexpr long last_case = 6;

  explicit own_runtime(unsigned workers)
      : limit_(tbb::global_control::max_allowed_parallelism, workers),
        arena_(static_cast<int>(workers)) {}
  template <class F> void run(F f) { arena_.execute(f); }
  counters read_counters() const { return {}; }

  // A task has several pieces; those of a task that runs are not left out unless it asks.
  void find(const numbers& n) {
    tbb::task_group_context context;
    tbb::parallel_for(
        0L, numbers::pieces,
        [&](long piece) {
          if (!context.is_group_execution_cancelled() && n.look_at(piece))
            context.cancel_group_execution();
        },
        context);
  }

  void find(const tree& t) {
    tbb::task_group all;
    all.run([&] { look(t, 0, 0, all); });
    all.wait();
  }

  // The calling thread begins with the last of them.
  template <class F, class G> static void both(const F& f, const G& g) {
    tbb::parallel_invoke(g, f);
  }

private:
  static void look(const tree& t, int level, std::uint64_t at, tbb::task_group& all) {
    if (level == t.levels) {
      if (t.leaf(at))
        all.cancel();
      return;
    }
    for (int i = 0; i < tree::fan_out; ++i)
      all.run([&t, level, next = at * tree::fan_out + i, &all] { look(t, level + 1, next, all); });
  }

  tbb::global_control limit_;
  tbb::task_arena arena_;
};

#else

// LLVM 19 fails in a dynamic loop that is cancelled: "Assertion failure at kmp_dispatch.cpp".
#if defined(__clang__)
#define BENCH_SCHEDULE static
#else
#define BENCH_SCHEDULE dynamic
#endif

class own_runtime {
public:
  static constexpr long last_case = 5;

  explicit own_runtime(unsigned workers) : workers_(static_cast<int>(workers)) {
    omp_set_dynamic(0);
    if (omp_get_cancellation() == 0)
      throw std::invalid_argument("OpenMP cancels nothing unless OMP_CANCELLATION=true is set");
  }
  template <class F> void run(F f) { f(); }
  counters read_counters() const { return {}; }

  void find(const numbers& n) {
#pragma omp parallel num_threads(workers_)
#pragma omp for schedule(BENCH_SCHEDULE)
    for (long piece = 0; piece < numbers::pieces; ++piece) {
      if (n.look_at(piece)) {
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
  }

  void find(const tree& t) {
#pragma omp parallel num_threads(workers_)
#pragma omp single
#pragma omp taskgroup
    look(&t, 0, 0);
  }

private:
  static void look(const tree* t, int level, std::uint64_t at) {
    for (int i = 0; i < tree::fan_out; ++i) {
      const std::uint64_t next = at * tree::fan_out + i;
#pragma omp task firstprivate(t, level, next)
      {
        if (level + 1 < t->levels) {
          look(t, level + 1, next);
        } else if (t->leaf(next)) {
#pragma omp cancel taskgroup
        }
      }
    }
  }

  int workers_;
};

#endif

} // namespace bench
