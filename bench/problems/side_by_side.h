// SPDX-License-Identifier: MIT
// side_by_side: n plain threads, each executing the same units: how far the machine itself is from
// n times the speed of one.
//
// It forks nothing and needs no runtime. Processors that share a core, a cache or a power budget
// slow each other down; no scheduler can do better than these threads. Not one of the papers'
// problems.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "bench/unit.h"

namespace bench {

class side_by_side_problem {
public:
  static constexpr const char* name = "side_by_side";
  static constexpr long threads_max = 1024;

  explicit side_by_side_problem(size chosen, long threads = 1)
      : threads_(threads), units_(chosen == size::test ? 1L << 10 : 1L << 21) {
    if (threads < 1 || threads > threads_max) {
      throw std::invalid_argument("side_by_side cannot run " + std::to_string(threads) +
                                  " threads; accepted are --n 1 to " + std::to_string(threads_max));
    }
  }

  long n() const { return threads_; }
  long units() const { return units_; }
  std::uint64_t forks() const { return 0; }
  void prepare() { executed_.assign(static_cast<std::size_t>(threads_), -1); }

  void compute() {
    const std::size_t last = executed_.size() - 1;
    std::atomic<bool> all_there = false;
    std::vector<std::jthread> others;
    for (std::size_t i = 0; i < last; ++i) {
      others.emplace_back([this, &all_there, i] {
        all_there.wait(false);
        executed_[i] = spinning::units(units_);
      });
    }
    all_there = true;
    all_there.notify_all();
    executed_[last] = spinning::units(units_);
  }

  bool verify() const {
    for (const long executed : executed_) {
      if (executed != units_)
        return false;
    }
    return true;
  }

private:
  long threads_;
  long units_;
  std::vector<long> executed_;
};

} // namespace bench
