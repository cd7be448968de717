// SPDX-License-Identifier: MIT
// A program as the authors of a runtime wrote it in C, linked from their source (peers.cmake).
// BENCH_OWN is its name. It verifies itself; some of them little, as BENCHMARK has it.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/harness.h"

extern "C" {
extern int n;
void init();
void prep();
void test();
int verify();
}

namespace bench {

class own_problem {
public:
  static constexpr const char* name = BENCH_OWN;

  explicit own_problem(size chosen) {
    for (const row& each : rows)
      if (each.problem == name)
        ::n = each.numbers[static_cast<int>(chosen)];
  }
  own_problem(size, long asked) { ::n = static_cast<int>(asked); }

  long n() const { return ::n; }
  // Those of fib, and none where nobody has counted them.
  std::uint64_t forks() const {
    std::uint64_t current = 0;
    std::uint64_t next = 1;
    for (int i = 0; i < ::n && std::string_view{name} == "fib"; ++i) {
      const std::uint64_t sum = current + next;
      current = next;
      next = sum;
    }
    return next - 1;
  }

  void prepare() {
    ::init();
    ::prep();
  }
  void compute() { ::test(); }
  bool verify() const { return ::verify() == 0; }

private:
  struct row {
    std::string_view problem;
    int numbers[3]; // for each size
  };
  // The exponent of the number for fft (of 2) and quicksort (of 10).
  static constexpr row rows[] = {
      {"cholesky", {150, 1000, 4000}},
      {"fft", {12, 20, 26}},
      {"fib", {24, 40, 42}},
      {"heat", {256, 2048, 4096}},
      {"integrate", {50, 3000, 10000}},
      {"knapsack", {32, 32, 32}},
      {"lu", {128, 1024, 4096}},
      {"matmul", {64, 512, 2048}},
      {"nqueens", {8, 12, 14}},
      {"quicksort", {3, 6, 8}},
      {"rectmul", {128, 1024, 4096}},
      {"strassen", {128, 1024, 4096}},
  };
};

} // namespace bench
