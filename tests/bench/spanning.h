// SPDX-License-Identifier: MIT
// A backend that runs everything serially and measures work and span of what it runs.
#pragma once

namespace bench {

// A path through the computation, from its beginning: what was executed on it.
struct path {
  long units = 0;
  long forks = 0;
};

struct measured {
  // What a unit and a fork weigh when two paths are compared.
  long unit_weight = 1;
  long fork_weight = 0;
  path work;
  // The longest path to the point at which the program is.
  path now;

  long length(const path& p) const { return p.units * unit_weight + p.forks * fork_weight; }
  const path& longer(const path& a, const path& b) const { return length(a) < length(b) ? b : a; }
};

inline measured so_far;

struct measuring {
  static long units(long count) {
    so_far.work.units += count;
    so_far.now.units += count;
    return count;
  }
};

// The fork itself lies on the paths of both, child and continuation.
class measured_scope {
public:
  template <class F> void fork(F child) {
    ++so_far.work.forks;
    ++so_far.now.forks;
    const path forking = so_far.now;
    child();
    longest_child_ = so_far.longer(longest_child_, so_far.now);
    so_far.now = forking;
  }
  void join() { so_far.now = so_far.longer(so_far.now, longest_child_); }

private:
  path longest_child_;
};

} // namespace bench

#define BENCH_TASK static
#define BENCH_SCOPE(s) bench::measured_scope s
#define BENCH_FORK(s, result, fn, ...) s.fork([&] { (result) = fn(__VA_ARGS__); })
#define BENCH_FORK_VOID(s, fn, ...) s.fork([&] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.join()
