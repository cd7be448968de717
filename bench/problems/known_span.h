// SPDX-License-Identifier: MIT
// known_span: computations whose work and span are known in closed form, against which the study of
// the time bound T_P <= T1/P + c * Tinf holds a run's time. --n chooses one of them.
//
//   balanced  a binary tree, `grain` units in each leaf
//   skewed    `grain` units in each node, then two subtrees: one level and two levels less
//   comb      a serial spine of `spine` units for each of its ribs, a rib is `grain` units
//   ladder    each level forks the next, deeper one; what follows that fork is `grain` units
//
// Each is repeated in series, so that work and span grow alike and the parallelism stays. Some of
// them run below ancestors: frames of plain calls, a page each, or frames that wait for a child.
// Not one of the papers' problems.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.h"
#include "bench/pause.h"
#include "bench/unit.h"

namespace bench {

// Work counts the units that are executed (spinning::units), or is counted itself by a test.
template <class Work> BENCH_TASK long balanced(int levels, long grain) {
  if (levels == 0)
    return Work::units(grain);
  long left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, balanced<Work>, levels - 1, grain);
  const long right = balanced<Work>(levels - 1, grain);
  BENCH_JOIN(s);
  return left + right;
}

template <class Work> BENCH_TASK long skewed(int levels, long grain) {
  const long own = Work::units(grain);
  if (levels < 2)
    return own;
  long left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, skewed<Work>, levels - 1, grain);
  const long right = skewed<Work>(levels - 2, grain);
  BENCH_JOIN(s);
  return own + left + right;
}

template <class Work> BENCH_TASK void rib(long* executed, long grain) {
  *executed = Work::units(grain);
}

template <class Work> BENCH_TASK long comb(int ribs, long grain, long spine) {
  std::vector<long> executed(static_cast<std::size_t>(ribs));
  long* const first = executed.data();
  long along = 0;
  BENCH_SCOPE(s);
  for (int i = 0; i < ribs; ++i) {
    BENCH_FORK_VOID(s, rib<Work>, first + i, grain);
    along += Work::units(spine);
  }
  BENCH_JOIN(s);
  return std::accumulate(executed.begin(), executed.end(), along);
}

template <class Work> BENCH_TASK long ladder(int levels, long grain) {
  if (levels == 0)
    return Work::units(grain);
  long deeper = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, deeper, ladder<Work>, levels - 1, grain);
  const long own = Work::units(grain);
  BENCH_JOIN(s);
  return deeper + own;
}

enum class family { balanced, skewed, comb, ladder };

struct span_case {
  bench::family family;
  int levels; // ribs of a comb
  long grain;
  long spine; // only a comb has it
  long repeat;
  long pages = 0; // of plain frames above all
  long above = 0; // frames above all whose child runs for a while, so that a thief may take them
};
inline constexpr long child_above = 256; // units

// What a computation executes, and what lies on its longest path.
struct closed_form {
  long work;       // units
  long span;       // units
  long forks;      // of the whole computation
  long path_forks; // on that path
};

inline long fibonacci(int n) {
  long before = 0;
  long last = 1;
  for (int i = 1; i < n; ++i) {
    const long next = before + last;
    before = last;
    last = next;
  }
  return last;
}

inline closed_form once(const span_case& c) {
  const long n = c.levels;
  switch (c.family) {
  case family::balanced:
    return {c.grain << n, c.grain, (1L << n) - 1, n};
  case family::skewed:
    return {c.grain * (2 * fibonacci(c.levels + 1) - 1), c.grain * std::max(n, 1L),
            fibonacci(c.levels + 1) - 1, std::max(n - 1, 0L)};
  case family::comb:
    return {n * (c.grain + c.spine), (n - 1) * c.spine + std::max(c.grain, c.spine), n, n};
  case family::ladder:
    return {(n + 1) * c.grain, c.grain, n, n};
  }
  throw std::invalid_argument("known_span has no such family");
}

inline bool has_ancestors(const span_case& c) { return c.pages != 0 || c.above != 0; }

inline closed_form closed_form_of(const span_case& c) {
  const closed_form part = once(c);
  closed_form all{c.repeat * part.work, c.repeat * part.span, c.repeat * part.forks,
                  c.repeat * part.path_forks};
  if (has_ancestors(c)) {
    all.work += c.above * child_above;
    all.span = std::max(all.span, c.above == 0 ? 0 : child_above);
    all.forks += 1 + c.above;
    all.path_forks += 1 + c.above;
  }
  return all;
}

inline std::string_view name_of(family f) {
  constexpr std::array<std::string_view, 4> names{"balanced", "skewed", "comb", "ladder"};
  return names[static_cast<std::size_t>(f)];
}

// The first executes forks alone: what they cost. The others execute about two million units, by
// rising parallelism.
inline constexpr std::array<span_case, 16> span_cases{{
    {family::balanced, 21, 0, 0, 1},
    {family::balanced, 1, 256, 0, 4096},
    {family::balanced, 2, 128, 0, 4096},
    {family::comb, 64, 448, 64, 64},
    {family::balanced, 4, 64, 0, 2048},
    {family::ladder, 31, 64, 0, 1024},
    {family::comb, 1024, 1008, 16, 2},
    {family::balanced, 8, 16, 0, 512},
    {family::ladder, 511, 64, 0, 64},
    {family::skewed, 20, 1, 0, 96},
    {family::balanced, 12, 8, 0, 64},
    {family::skewed, 26, 1, 0, 5},
    {family::balanced, 16, 2, 0, 16},
    {family::skewed, 30, 1, 0, 1},
    {family::balanced, 18, 2, 0, 4},
    {family::balanced, 21, 1, 0, 1},
}};

// One of them again, whose steals are many, below more and more ancestors.
inline constexpr std::array<span_case, 8> cases_below{{
    {family::ladder, 31, 64, 0, 1024, 1, 0},
    {family::ladder, 31, 64, 0, 1024, 16, 0},
    {family::ladder, 31, 64, 0, 1024, 64, 0},
    {family::ladder, 31, 64, 0, 1024, 256, 0},
    {family::ladder, 31, 64, 0, 1024, 0, 4},
    {family::ladder, 31, 64, 0, 1024, 0, 16},
    {family::ladder, 31, 64, 0, 1024, 0, 64},
    {family::ladder, 31, 64, 0, 1024, 0, 256},
}};
inline constexpr long last_span_case = span_cases.size() + cases_below.size();

// A smaller one of the same family for size `test`.
inline span_case span_case_of(size chosen, long number) {
  if (number < 1 || number > last_span_case) {
    throw std::invalid_argument("known_span has no case " + std::to_string(number) +
                                "; accepted are --n 1 to " + std::to_string(last_span_case));
  }
  const auto at = static_cast<std::size_t>(number - 1);
  span_case c = at < span_cases.size() ? span_cases[at] : cases_below[at - span_cases.size()];
  if (chosen == size::test) {
    c.levels = std::min(c.levels, 10);
    c.repeat = std::min(c.repeat, 4L);
    c.pages = std::min(c.pages, 16L);
    c.above = std::min(c.above, 16L);
  }
  return c;
}

template <class Work> long execute_alone(const span_case& c) {
  long executed = 0;
  for (long i = 0; i < c.repeat; ++i) {
    switch (c.family) {
    case family::balanced:
      executed += balanced<Work>(c.levels, c.grain);
      break;
    case family::skewed:
      executed += skewed<Work>(c.levels, c.grain);
      break;
    case family::comb:
      executed += comb<Work>(c.levels, c.grain, c.spine);
      break;
    case family::ladder:
      executed += ladder<Work>(c.levels, c.grain);
      break;
    }
  }
  return executed;
}

template <class Work> BENCH_TASK long open_above(long levels, const span_case* c) {
  if (levels == 0)
    return execute_alone<Work>(*c);
  long child = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, child, Work::units, child_above);
  const long below = open_above<Work>(levels - 1, c);
  BENCH_JOIN(s);
  return child + below;
}

template <class Work> BENCH_TASK long below_pages(long pages, const span_case* c) {
  if (pages == 0)
    return open_above<Work>(c->above, c);
  const page_of_frame own;
  const long executed = below_pages<Work>(pages - 1, c);
  return executed + own.bytes[0];
}

template <class Work> long execute(const span_case& c) {
  if (!has_ancestors(c))
    return execute_alone<Work>(c);
  long executed = 0; // by a child, since the outermost function is on its thread's own stack
  BENCH_SCOPE(s);
  BENCH_FORK(s, executed, below_pages<Work>, c.pages, &c);
  BENCH_JOIN(s);
  return executed;
}

class known_span_problem {
public:
  static constexpr const char* name = "known_span";

  explicit known_span_problem(size chosen, long number = 1)
      : number_(number), case_(span_case_of(chosen, number)) {}

  long n() const { return number_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(closed_form_of(case_).forks); }
  void prepare() {}
  void compute() { executed_ = execute<spinning>(case_); }
  bool verify() const { return executed_ == closed_form_of(case_).work; }

private:
  long number_;
  span_case case_;
  long executed_ = -1;
};

} // namespace bench
