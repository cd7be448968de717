// SPDX-License-Identifier: MIT
// Children that are stolen as closures (bench/baseline/child_stealing.h).
#pragma once

#include "bench/backend/closures.h"
#include "bench/baseline/child_stealing.h"
#include "bench/harness.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#define BENCH_SCOPE(s) bench::child_stealing::scope s

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;

  explicit runtime(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      workers_.emplace_back(workers_);
    for (unsigned i = 1; i < count; ++i) {
      threads_.emplace_back([this, &self = workers_[i]] {
        child_stealing::worker::current = &self;
        self.work([this] { return ends_.load(std::memory_order_acquire); });
      });
    }
    child_stealing::worker::current = &workers_.front();
  }
  ~runtime() {
    ends_.store(true, std::memory_order_release);
    for (std::thread& each : threads_)
      each.join();
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  template <class F> void run(F f) {
    closures_before_ = closures();
    f();
  }

  counters read_counters() const {
    counters known;
    known.steals = 0;
    for (const child_stealing::worker& each : workers_)
      *known.steals += each.steals();
    return known;
  }
  // Of the last run.
  std::map<std::string, double> metrics() const {
    return {{"closures", static_cast<double>(closures() - closures_before_)}};
  }

private:
  std::uint64_t closures() const {
    std::uint64_t sum = 0;
    for (const child_stealing::worker& each : workers_)
      sum += each.closures();
    return sum;
  }

  std::uint64_t closures_before_ = 0;
  std::deque<child_stealing::worker> workers_;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

} // namespace bench
