// SPDX-License-Identifier: MIT
// The standard's parallel algorithms, one source for each backend: std_par-nopal and std_par-tbb.
// `taskset -c 0` gives each of them one thread.
//
//     std_par-nopal --benchmark_filter=sort --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <execution>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr auto par = std::execution::par;
using numbers = std::vector<std::int32_t>;

template <class T> std::vector<T> random_values(std::size_t n) {
  std::mt19937 random{7};
  std::vector<T> values(n);
  for (T& each : values)
    if constexpr (std::is_same_v<T, std::string>)
      each = std::to_string(random());
    else
      each = static_cast<T>(random() >> 8);
  return values;
}

// body(values, out) is timed, after both were set anew where it changes them.
constexpr auto as_they_are = [](auto&) {};
template <class T, class Body, class Prepare = decltype(as_they_are)>
void timed(const char* name, Body body, bool changes, long most, Prepare prepare = as_they_are) {
  auto* const made = benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    auto given = random_values<T>(static_cast<std::size_t>(state.range(0)));
    prepare(given);
    std::vector<T> values = given;
    std::vector<T> out = given;
    for ([[maybe_unused]] auto each : state) {
      if (changes) {
        state.PauseTiming();
        values = given;
        state.ResumeTiming();
      }
      benchmark::DoNotOptimize(body(values, out));
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
  });
  made->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (long n = 1000; n <= most; n *= 100)
    made->Arg(n);
}

constexpr long large = 10'000'000;
constexpr auto is_odd = [](auto value) { return value % 2 != 0; };

void register_reads() {
  timed<std::int32_t>(
      "count_if", [](auto& in, auto&) { return std::count_if(par, in.begin(), in.end(), is_odd); },
      false, large);
  timed<std::int32_t>(
      "reduce",
      [](auto& in, auto&) { return std::reduce(par, in.begin(), in.end(), std::int64_t{0}); },
      false, large);
  timed<double>(
      "transform_reduce",
      [](auto& a, auto& b) {
        return std::transform_reduce(par, a.begin(), a.end(), b.begin(), 0.0);
      },
      false, large);
  timed<std::int32_t>(
      "min_element", [](auto& in, auto&) { return *std::min_element(par, in.begin(), in.end()); },
      false, large);
  timed<std::int32_t>(
      "find_in_the_middle",
      [](auto& in, auto&) {
        return std::find(par, in.begin(), in.end(), in[in.size() / 2]) - in.begin();
      },
      false, large);
  timed<std::int32_t>(
      "find_nothing",
      [](auto& in, auto&) { return std::find(par, in.begin(), in.end(), -1) - in.begin(); }, false,
      large);
}

void register_writes() {
  timed<std::int32_t>(
      "for_each",
      [](auto& in, auto&) {
        std::for_each(par, in.begin(), in.end(), [](auto& value) { value = value * 3 + 1; });
        return 0;
      },
      false, large);
  timed<double>(
      "transform",
      [](auto& in, auto& out) {
        std::transform(par, in.begin(), in.end(), out.begin(),
                       [](double x) { return x / (1 + x * x); });
        return 0;
      },
      false, large);
  timed<std::int32_t>(
      "inclusive_scan",
      [](auto& in, auto& out) {
        return std::inclusive_scan(par, in.begin(), in.end(), out.begin()) == out.end();
      },
      false, large);
  timed<double>(
      "exclusive_scan",
      [](auto& in, auto& out) {
        return std::exclusive_scan(par, in.begin(), in.end(), out.begin(), 0.0) == out.end();
      },
      false, large);
  timed<std::int32_t>(
      "copy_if",
      [](auto& in, auto& out) {
        return std::copy_if(par, in.begin(), in.end(), out.begin(), is_odd) - out.begin();
      },
      false, large);
  timed<std::int32_t>(
      "partition",
      [](auto& in, auto&) {
        return std::partition(par, in.begin(), in.end(), is_odd) - in.begin();
      },
      true, large);
}

void register_orders() {
  const auto sort = [](auto& in, auto&) {
    std::sort(par, in.begin(), in.end());
    return 0;
  };
  timed<std::int32_t>("sort", sort, true, large);
  timed<std::string>("sort_strings", sort, true, large / 10);
  timed<std::int32_t>(
      "stable_sort",
      [](auto& in, auto&) {
        std::stable_sort(par, in.begin(), in.end());
        return 0;
      },
      true, large);
  timed<std::int32_t>(
      "partial_sort",
      [](auto& in, auto&) {
        std::partial_sort(par, in.begin(),
                          in.begin() + static_cast<std::ptrdiff_t>(in.size() / 100), in.end());
        return 0;
      },
      true, large);
  timed<std::int32_t>(
      "merge",
      [](auto& in, auto& out) {
        const auto middle = in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2);
        return std::merge(par, in.begin(), middle, middle, in.end(), out.begin()) == out.end();
      },
      false, large,
      [](auto& in) {
        const auto middle = in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2);
        std::sort(in.begin(), middle);
        std::sort(middle, in.end());
      });
}

} // namespace

int main(int argc, char** argv) {
  register_reads();
  register_writes();
  register_orders();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
}
