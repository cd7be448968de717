// SPDX-License-Identifier: MIT
// A flat loop of forks from main, whose bodies take nothing, a microsecond, or ten: `us0`, `us1`,
// `us10`. Of Nopal also `usN_serial`, the plain loop, and `usN_inside`, the same forks in a strand.
#include "bench/algorithms/in_turn.h"
#include "bench/algorithms/runtime.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#if defined(BENCH_NOPAL)
#include <nopal/fork.h>
#elif defined(BENCH_TBB)
#include <tbb/task_group.h>
#endif

namespace bench {
namespace {

// So many steps take that many microseconds.
std::size_t steps_of(double us) {
  constexpr std::size_t steps = 100'000;
  double least_ms = 1e9;
  for (int i = 0; i < 9; ++i)
    least_ms = std::min(least_ms, ms_of([] { asm volatile("" ::"x"(work(steps))); }));
  return static_cast<std::size_t>(us * 1e-3 / least_ms * steps);
}

// A body for each of the results.
struct bodies {
  double* results;
  std::size_t count;
  std::size_t steps;

  void serially() const {
    for (std::size_t i = 0; i < count; ++i)
      results[i] = work(steps);
  }
  void forked() const;
};

#if defined(BENCH_NOPAL)
void bodies::forked() const {
  nopal::scope s;
  for (std::size_t i = 0; i < count; ++i)
    s.fork([at = results + i, n = steps] { *at = work(n); });
  s.join();
}
#elif defined(BENCH_TBB)
void bodies::forked() const {
  tbb::task_group all;
  for (std::size_t i = 0; i < count; ++i)
    all.run([at = results + i, n = steps] { *at = work(n); });
  all.wait();
}
#else
void bodies::forked() const {
#pragma omp parallel
#pragma omp single
  for (std::size_t i = 0; i < count; ++i) {
    double* const at = results + i;
    const std::size_t n = steps;
#pragma omp task firstprivate(at, n)
    *at = work(n);
  }
}
#endif

class flat final : public in_turn {
public:
  flat(bool test, unsigned workers)
      : in_turn(test ? 1 : 5), threads_(workers), results_(test ? 100 : 100'000) {
    const std::size_t most = results_.size();
    add_bodies("us0", {results_.data(), most, 0});
    add_bodies("us1", {results_.data(), most / 10, steps_of(1)});
    add_bodies("us10", {results_.data(), most / 50, steps_of(10)});
  }

private:
  void add_bodies(const std::string& name, const bodies& all) {
    add_run(name, all, [all] { all.forked(); });
#if defined(BENCH_NOPAL)
    add_run(name + "_serial", all, [all] { all.serially(); });
    add_run(name + "_inside", all, [all] {
      nopal::scope s;
      s.fork([all] { all.forked(); });
      s.join();
    });
#endif
  }
  void add_run(const std::string& name, const bodies& all, std::function<void()> run) {
    add({.name = name, .run = std::move(run), .right = [this, all] {
           const double expected = work(all.steps);
           for (std::size_t i = 0; i < all.count; ++i)
             if (results_[i] != expected)
               return false;
           results_.assign(results_.size(), 0);
           return true;
         }});
  }

  const own_threads threads_;
  std::vector<double> results_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) { return bench::run_in_turn<bench::flat>("flat", argc, argv); }
