// SPDX-License-Identifier: MIT
// A program that times cases one after the other, round after round, within one process. Its line
// tells the median of each in milliseconds, by the case's name.
#pragma once

#include "bench/harness.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline double median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

template <class F> double ms_of(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// So many steps of a computation that no compiler leaves out, at one to three nanoseconds each.
[[gnu::always_inline]] inline double work(std::size_t steps) {
  double x = 1.5;
  for (std::size_t k = 0; k < steps; ++k) {
    x = x * 0.99 + 0.1;
    asm volatile("" : "+x"(x));
  }
  return x;
}

struct timed_case {
  std::string name;
  // Those of one group follow one another, in random order: which of them finds what other work
  // has left in the caches is up to chance. Without a group a case runs where it was added.
  std::string group = {};
  std::function<void()> run; // timed
  // Whether the last run was right.
  std::function<bool()> right = [] { return true; };
  std::function<void()> before = [] {}; // each run
  std::function<void()> begin = [] {};  // each round
  int runs = 1;                         // in a round
  std::vector<double> ms = {};
};

class in_turn : public experiment {
public:
  explicit in_turn(int rounds) : rounds_(rounds) {}

  long n() const override { return 0; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {}
  void warm_up() override {
    for (timed_case& each : cases_) {
      each.begin();
      each.before();
      each.run();
      right_ = each.right() && right_;
    }
  }
  void compute() override {
    for (int round = 0; round < rounds_; ++round) {
      mix_groups();
      for (timed_case& each : cases_) {
        each.begin();
        for (int run = 0; run < each.runs; ++run) {
          each.before();
          each.ms.push_back(ms_of(each.run));
        }
      }
    }
  }
  bool verify() override { return right_; }
  counters read_counters() const override { return {}; }
  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> all;
    for (const timed_case& each : cases_)
      all[each.name] = median(each.ms);
    return all;
  }

protected:
  void add(timed_case added) { cases_.push_back(std::move(added)); }

private:
  void mix_groups() {
    for (auto first = cases_.begin(); first != cases_.end();) {
      const auto last = std::find_if(
          first, cases_.end(), [&](const timed_case& each) { return each.group != first->group; });
      if (!first->group.empty())
        std::shuffle(first, last, random_);
      first = last;
    }
  }

  const int rounds_;
  std::minstd_rand random_{std::random_device{}()};
  std::vector<timed_case> cases_;
  bool right_ = true;
};

// The whole of main() of such a program, which Experiment is.
template <class Experiment> int run_in_turn(const char* problem, int argc, char** argv) {
  const program what{
      problem, BENCH_RUNTIME, true, false, false, [](const input& in, unsigned workers) {
        return std::make_unique<Experiment>(in.chosen == size::test, workers);
      }};
  return run_program(what, argc, argv);
}

} // namespace bench
