// SPDX-License-Identifier: MIT
// Measures each algorithm beside its serial counterpart in std, and beside std::execution::par
// where oneTBB is there (BENCH_TBB); and loops without a grain beside the serial loop and some
// grains.
//
// usage: algorithms [--workers N] [options of Google Benchmark]
//
// Compare programs' medians of repetitions in one run: --benchmark_repetitions=9
// --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true.
#include <benchmark/benchmark.h>
#include <nopal/algorithm.h>
#include <nopal/filter.h>
#include <nopal/loop.h>
#include <nopal/runtime.h>
#include <nopal/scan.h>
#include <nopal/sort.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#if defined(BENCH_TBB)
#include <execution>
#include <tbb/global_control.h>
#endif

namespace {

using keys = std::vector<std::uint32_t>;

enum class distribution { uniform, few_values, almost_sorted };

keys keys_of(std::size_t count, distribution kind) {
  std::mt19937 random{42};
  keys all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = kind == distribution::uniform      ? static_cast<std::uint32_t>(random())
             : kind == distribution::few_values ? static_cast<std::uint32_t>(random() % 100)
                                                : static_cast<std::uint32_t>(i);
  if (kind == distribution::almost_sorted)
    for (std::size_t i = 0; i < count / 100; ++i)
      std::swap(all[random() % count], all[random() % count]);
  return all;
}

std::vector<std::string> strings_of(std::size_t count) {
  std::vector<std::string> all;
  for (const std::uint32_t each : keys_of(count, distribution::uniform))
    all.push_back("key " + std::to_string(each));
  return all;
}

// Runs f on a fresh copy each time.
template <class T, class F> void on_copies(benchmark::State& state, const T& given, const F& f) {
  for (auto _ : state) {
    state.PauseTiming();
    T copy = given;
    state.ResumeTiming();
    f(copy);
    benchmark::DoNotOptimize(copy.data());
    state.PauseTiming();
    copy = T{};
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(given.size()));
}

template <class F> void add(const std::string& name, const F& f) {
  benchmark::RegisterBenchmark(name.c_str(), f)->Unit(benchmark::kMillisecond)->UseRealTime();
}

template <class T, class Serial, class Nopal, class Par>
void add_in_place(const std::string& name, const T& given, Serial serial, Nopal ours,
                  [[maybe_unused]] Par par) {
  add(name + "/serial", [&given, serial](auto& state) { on_copies(state, given, serial); });
  add(name + "/nopal", [&given, ours](auto& state) { on_copies(state, given, ours); });
#if defined(BENCH_TBB)
  add(name + "/par", [&given, par](auto& state) { on_copies(state, given, par); });
#endif
}

#if defined(BENCH_TBB)
#define BENCH_PAR(...) [](auto& a) { __VA_ARGS__; }
#else
#define BENCH_PAR(...) 0
#endif

template <class T> void add_sorts(const std::string& name, const T& given) {
  add_in_place(
      "sort/" + name, given, [](T& a) { std::sort(a.begin(), a.end()); },
      [](T& a) { nopal::sort(a); }, BENCH_PAR(std::sort(std::execution::par, a.begin(), a.end())));
}

bool is_small(std::uint32_t x) { return x < 1u << 31; }

void add_others(const keys& given) {
  add_in_place(
      "stable_partition", given,
      [](keys& a) { std::stable_partition(a.begin(), a.end(), is_small); },
      [](keys& a) { nopal::stable_partition(a, is_small); },
      BENCH_PAR(std::stable_partition(std::execution::par, a.begin(), a.end(), is_small)));
  add_in_place(
      "partition", given, [](keys& a) { std::partition(a.begin(), a.end(), is_small); },
      [](keys& a) { nopal::partition(a, is_small); },
      BENCH_PAR(std::partition(std::execution::par, a.begin(), a.end(), is_small)));
  add_in_place(
      "inclusive_scan", given, [](keys& a) { std::inclusive_scan(a.begin(), a.end(), a.begin()); },
      [](keys& a) { nopal::inclusive_scan(a, a.begin()); },
      BENCH_PAR(std::inclusive_scan(std::execution::par, a.begin(), a.end(), a.begin())));
  add_in_place(
      "transform", given,
      [](keys& a) {
        std::transform(a.begin(), a.end(), a.begin(), [](auto x) { return x * 3 + 1; });
      },
      [](keys& a) { nopal::transform(a, a.begin(), [](auto x) { return x * 3 + 1; }); },
      BENCH_PAR(std::transform(std::execution::par, a.begin(), a.end(), a.begin(),
                               [](auto x) { return x * 3 + 1; })));
  add_in_place(
      "remove_if", given,
      [](keys& a) { std::ignore = std::remove_if(a.begin(), a.end(), is_small); },
      [](keys& a) { nopal::remove_if(a, is_small); },
      BENCH_PAR(std::ignore = std::remove_if(std::execution::par, a.begin(), a.end(), is_small)));
  add_in_place(
      "min_max", given,
      [](keys& a) { benchmark::DoNotOptimize(std::minmax_element(a.begin(), a.end())); },
      [](keys& a) { benchmark::DoNotOptimize(nopal::min_max(a)); },
      BENCH_PAR(
          benchmark::DoNotOptimize(std::minmax_element(std::execution::par, a.begin(), a.end()))));
  add_in_place(
      "count_if", given,
      [](keys& a) { benchmark::DoNotOptimize(std::count_if(a.begin(), a.end(), is_small)); },
      [](keys& a) { benchmark::DoNotOptimize(nopal::count_if(a, is_small)); },
      BENCH_PAR(benchmark::DoNotOptimize(
          std::count_if(std::execution::par, a.begin(), a.end(), is_small))));
}

// Loops: body(i), for so many iterations, without a grain, with some, and serially. `repeat` runs
// of the loop are one iteration of the benchmark.
template <class Body>
void add_loop(const std::string& name, std::size_t count, std::size_t repeat, const Body& body) {
  add("loop/" + name + "/serial", [=](auto& state) {
    for (auto _ : state)
      for (std::size_t k = 0; k < repeat; ++k) {
        for (std::size_t i = 0; i < count; ++i)
          body(i);
        benchmark::ClobberMemory();
      }
  });
  for (const std::size_t grain : {0, 1, 16, 256, 4096, 65536}) {
    if (grain >= count || (grain != 0 && count / grain > 100000))
      continue;
    add("loop/" + name + (grain == 0 ? "/lazy" : "/grain" + std::to_string(grain)),
        [=](auto& state) {
          for (auto _ : state)
            for (std::size_t k = 0; k < repeat; ++k) {
              nopal::for_index(std::size_t{0}, count, body, grain);
              benchmark::ClobberMemory();
            }
        });
  }
}

// So many steps of a computation that no compiler can leave out.
[[gnu::always_inline]] inline void work(std::size_t steps) {
  double x = 1.5;
  for (std::size_t k = 0; k < steps; ++k) {
    x = x * 0.99 + 0.1;
    asm volatile("" : "+x"(x));
  }
}

void add_loops(std::vector<double>& a, std::vector<double>& b) {
  double* const x = a.data();
  double* const y = b.data();
  const std::size_t n = a.size();
  add_loop("memory", n, 1, [=](std::size_t i) { x[i] = y[i] * 3 + 1; });
  add_loop("stencil", n - 2, 1, [=](std::size_t i) { x[i + 1] = y[i] + y[i + 1] + y[i + 2]; });
  add_loop("compute", 20000, 1, [](std::size_t) { work(500); });
  add_loop("dear", 64, 1, [](std::size_t) { work(100000); });
  add_loop("rising", 4000, 1, [](std::size_t i) { work(i); });
  add_loop("falling", 4000, 1, [](std::size_t i) { work(4000 - i); });
  add_loop("few_dear", 100000, 1, [](std::size_t i) { work(i % 9973 == 0 ? 200000 : 10); });
  add_loop("root", 100000, 1, [=](std::size_t i) { x[i] = std::sqrt(y[i]); });
  add_loop("tiny", 1000, 1000, [=](std::size_t i) { x[i] = y[i] + 1; });
  add_loop("empty", 1000, 1000, [](std::size_t i) { benchmark::DoNotOptimize(i); });
  add_loop("microsecond", 10000, 1, [](std::size_t) { work(370); });
  add_loop("nested", 300, 1, [](std::size_t) { nopal::for_index(0, 300, [](int) { work(30); }); });
}

} // namespace

int main(int argc, char** argv) {
  unsigned workers = 1;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--workers") == 0) {
      workers = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
      std::rotate(argv + i, argv + i + 2, argv + argc);
      argc -= 2;
    }
  nopal::configure({.num_workers = workers});
#if defined(BENCH_TBB)
  const tbb::global_control threads{tbb::global_control::max_allowed_parallelism, workers};
#endif
  const std::size_t count = 10'000'000;
  const keys uniform = keys_of(count, distribution::uniform);
  const keys few_values = keys_of(count, distribution::few_values);
  const keys almost_sorted = keys_of(count, distribution::almost_sorted);
  const std::vector<std::string> strings = strings_of(count / 10);
  std::vector<double> x(count / 2, 1.0);
  std::vector<double> y(count / 2, 2.0);
  add_sorts("uniform", uniform);
  add_sorts("few_values", few_values);
  add_sorts("almost_sorted", almost_sorted);
  add_sorts("strings", strings);
  add_others(uniform);
  add_loops(x, y);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
