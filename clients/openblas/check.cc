// SPDX-License-Identifier: MIT
// Products and solutions with several threads against the same with one: called by main, by threads
// that know nothing of Nopal, and by forked strands. Linked with gang.cc, or without it.
//
//     check [THREADS]      # of OpenBLAS; default: 2
#include "nopal/blocking.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#if !defined(OPENBLAS_SYMBOL)
#define OPENBLAS_SYMBOL(name) name
#endif
#define CALL(name) OPENBLAS_SYMBOL(cblas_##name)

namespace {

using numbers = std::vector<double>;

numbers random_numbers(int count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> uniform{-1, 1};
  numbers all(static_cast<std::size_t>(count));
  for (double& each : all)
    each = uniform(random);
  return all;
}

numbers product(int n) {
  const numbers a = random_numbers(n * n, 1);
  const numbers b = random_numbers(n * n, 2);
  numbers c(a.size());
  CALL(dgemm)(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
              c.data(), n);
  return c;
}

numbers square(int n) {
  const numbers a = random_numbers(n * n, 3);
  numbers c(a.size());
  CALL(dsyrk)(CblasRowMajor, CblasLower, CblasNoTrans, n, n, 1, a.data(), n, 0, c.data(), n);
  return c;
}

numbers solution(int n) {
  numbers a = random_numbers(n * n, 4);
  for (int i = 0; i < n; ++i)
    a[static_cast<std::size_t>(i * n + i)] += n;
  numbers b = random_numbers(n * n, 5);
  CALL(dtrsm)(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, n, 1, a.data(),
              n, b.data(), n);
  return b;
}

numbers vector_product(int n) {
  const numbers a = random_numbers(n * n, 6);
  const numbers x = random_numbers(n, 7);
  numbers y(x.size());
  CALL(dgemv)(CblasRowMajor, CblasNoTrans, n, n, 1, a.data(), n, x.data(), 1, 0, y.data(), 1);
  return y;
}

struct task {
  numbers (*compute)(int n);
  int n;
};
constexpr task tasks[] = {{product, 64},   {product, 333}, {product, 700},        {square, 500},
                          {solution, 400}, {solution, 90}, {vector_product, 900}, {product, 200}};

std::vector<numbers> references;

bool is_right(std::size_t which) {
  const task& each = tasks[which % std::size(tasks)];
  const numbers result = each.compute(each.n);
  const numbers& reference = references[which % std::size(tasks)];
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!(std::abs(result[i] - reference[i]) <= 1e-9))
      return false;
  return true;
}

void report(const char* caller, bool right) {
  std::printf("called by %s: %s\n", caller, right ? "right" : "WRONG");
  std::fflush(stdout);
  if (!right)
    std::exit(1);
}

double milliseconds(int n) {
  double least = 1e9;
  for (int run = 0; run < 5; ++run) {
    const numbers a = random_numbers(n * n, 1);
    numbers c(a.size());
    const auto begin = std::chrono::steady_clock::now();
    CALL(dgemm)(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, a.data(), n, 0,
                c.data(), n);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return least;
}

} // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::stoi(argv[1]) : 2;
  OPENBLAS_SYMBOL(openblas_set_num_threads)(1);
  for (const task& each : tasks)
    references.push_back(each.compute(each.n));
  OPENBLAS_SYMBOL(openblas_set_num_threads)(threads);

  constexpr std::size_t calls = 4 * std::size(tasks);
  bool right = true;
  for (std::size_t which = 0; which < calls; ++which)
    right = is_right(which) && right;
  report("main", right);

  bool of_threads[3] = {true, true, true};
  std::vector<std::thread> others;
  for (bool& own : of_threads)
    others.emplace_back([&own] {
      for (std::size_t which = 0; which < calls; ++which)
        own = is_right(which) && own;
    });
  for (std::thread& each : others)
    each.join();
  report("three threads", std::ranges::all_of(of_threads, [](bool own) { return own; }));

  // A second product waits in a lock of OpenBLAS's, and a worker that waits there takes no job of
  // the first: so a strand keeps others out, or lends its worker.
  nopal::mutex one;
  const auto all_right = [](const auto& call) {
    return nopal::reduce(std::size_t{0}, calls, 0, std::plus<>{}, call, 1) ==
           static_cast<int>(calls);
  };
  report("strands, one at a time", all_right([&one](std::size_t which) {
           const std::lock_guard only{one};
           return is_right(which) ? 1 : 0;
         }));
  report("strands in nopal::blocking", all_right([](std::size_t which) {
           return nopal::blocking([which] { return is_right(which); }) ? 1 : 0;
         }));

  for (int n : {100, 300, 1000})
    std::printf("dgemm of %d: %.3f ms\n", n, milliseconds(n));
}
