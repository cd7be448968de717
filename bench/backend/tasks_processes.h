// SPDX-License-Identifier: MIT
// Tasks on several processes, each of which runs the whole program; workers are processes.
//
// It tells the counts of process 0, without those of the warming up.
#pragma once

#include <nopal/process.h>

#include "bench/harness.h"
#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/process/run/statistics.h"
#include "nopal/process/run/worker.h"
#include "nopal/process/transport/layout.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

#define BENCH_TASK static
#define BENCH_SCOPE(s)
// The function is named by a type, as in nopal_forks.h.
#define BENCH_SPAWN(s, x, fn, ...)                                                                 \
  auto x##_task =                                                                                  \
      nopal::process::spawn([](auto... arguments) { return fn(arguments...); }, __VA_ARGS__)
#define BENCH_JOIN_TASK(s, x) const auto x = nopal::process::join(x##_task)

namespace bench {

// The cycles of one full fence, which the end of each task needs.
inline double fence_cycles() {
  constexpr int fences = 1'000'000;
  double least = 1e9;
  for (int tries = 0; tries < 5; ++tries) {
    const std::uint64_t begin = nopal::base::cycles();
    for (int i = 0; i < fences; ++i)
      nopal::base::full_fence();
    least = std::min(least, static_cast<double>(nopal::base::cycles() - begin) / fences);
  }
  return least;
}

// Hidden, as are its members, which are Nopal's.
NOPAL_HIDDEN_BEGIN
class task_runtime {
public:
  static constexpr bool parallel = true;

  task_runtime(unsigned workers, std::size_t region_size, char** argv)
      : layout_{heap_size, region_size, nopal::process::layout::regions_of(workers)},
        session_{
            0, argv, {.processes = workers, .region_size = region_size, .heap_size = heap_size}} {
    if (session_.size() != workers)
      throw std::invalid_argument("--workers says " + std::to_string(workers) + ", but there are " +
                                  std::to_string(session_.size()) + " processes");
  }

  // One of the processes prints.
  bool speaks() const { return session_.rank() == 0; }

  template <class F> auto run(F f) {
    using clock = std::chrono::steady_clock;
    before_ = nopal::process::this_worker.done;
    if (faults_before_ == 0)
      faults_before_ = page_faults();
    const std::uint64_t cycles = nopal::base::cycles();
    const auto begin = clock::now();
    const auto result = session_.run(f);
    ghz_ = static_cast<double>(nopal::base::cycles() - cycles) /
           std::chrono::duration<double, std::nano>(clock::now() - begin).count();
    faults_ = page_faults();
    return result;
  }

  counters read_counters() const {
    const nopal::process::counts& now = nopal::process::this_worker.done;
    counters all;
    all.steals = now.steals;
    all.suspensions = now.suspended;
    return all;
  }

  std::map<std::string, double> metrics() const {
    using nopal::process::counts;
    const counts& now = nopal::process::this_worker.done;
    const auto since = [&](std::uint64_t counts::* field) {
      return static_cast<double>(now.*field - before_.*field);
    };
    std::map<std::string, double> all{
        {"processes", session_.size()},
        {"tasks", since(&counts::tasks)},
        {"tries", since(&counts::tries)},
        {"steals", since(&counts::steals)},
        {"stolen_bytes", since(&counts::stolen_bytes)},
        {"suspended", since(&counts::suspended)},
        {"suspended_bytes", since(&counts::suspended_bytes)},
        {"region_used", static_cast<double>(nopal::process::used_region(layout_))},
        {"region_size", static_cast<double>(layout_.region_size * layout_.regions)},
        {"page_faults", static_cast<double>(faults_ - faults_before_)},
        {"ghz", ghz_},
        {"fence_cycles", fence_cycles()}};
    constexpr const char* names[] = {"look", "take", "copy", "suspend", "resume"};
    static_assert(std::size(names) == nopal::process::steps);
    for (unsigned i = 0; i < nopal::process::steps; ++i)
      all[std::string(names[i]) + "_cycles"] =
          static_cast<double>(now.cycles[i] - before_.cycles[i]);
    return all;
  }

private:
  static constexpr std::size_t heap_size = std::size_t{64} << 20;

  static long page_faults() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    return own.ru_minflt;
  }

  nopal::process::layout layout_;
  nopal::process::session session_;
  nopal::process::counts before_;
  double ghz_ = 0;
  long faults_before_ = 0; // before the warming up
  long faults_ = 0;
};
NOPAL_HIDDEN_END

} // namespace bench
