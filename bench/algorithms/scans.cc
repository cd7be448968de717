// SPDX-License-Identifier: MIT
// Passes over 20 million numbers of 32 bits, more than caches hold: `scan` in place, and `sum`. Of
// Nopal also `scan_serial` and `sum_serial`, `sum_unordered` (accumulate, whose tree depends on the
// schedule), and what the memory gives: `two_passes` reads all, then reads and writes all, by plain
// threads that share the numbers evenly. Of oneTBB also `sum_deterministic`.
#include "bench/algorithms/in_turn.h"
#include "bench/algorithms/runtime.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#if defined(BENCH_NOPAL)
#include <nopal/accumulate.h>
#include <nopal/scan.h>
#else
#include <execution>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#endif

namespace bench {
namespace {

using numbers = std::vector<std::uint32_t>;

class scans final : public in_turn {
public:
  scans(bool test, unsigned workers)
      : in_turn(test ? 1 : 5), threads_(workers), all_(test ? 100'000 : 20'000'000, 1u) {
    add_scan("scan", [this] { scan(); });
    add_sum("sum", [this] { sum_ = sum(); });
#if defined(BENCH_NOPAL)
    add_scan("scan_serial",
             [this] { std::inclusive_scan(all_.begin(), all_.end(), all_.begin()); });
    add_sum("sum_serial", [this] { sum_ = part_sum(0, all_.size()); });
    add_sum("sum_unordered", [this] {
      sum_ = nopal::accumulate(
          std::size_t{0}, all_.size(), [] { return std::uint64_t{0}; },
          [this](std::uint64_t& some, std::size_t i) { some += all_[i]; },
          [](std::uint64_t& low, std::uint64_t high) { low += high; });
    });
    add({.name = "two_passes", .run = [this, workers] { pass_twice(workers); }, .before = rest});
#else
    add_sum("sum_deterministic", [this] {
      sum_ =
          tbb::parallel_deterministic_reduce(range(), std::uint64_t{0}, add_part(), std::plus<>{});
    });
#endif
  }

private:
  void add_scan(const char* name, std::function<void()> run) {
    add({.name = name,
         .run = std::move(run),
         .right =
             [this] {
               const bool right = all_.front() == 1 && all_.back() == all_.size();
               std::fill(all_.begin(), all_.end(), 1u);
               return right;
             },
         .before = rest});
  }
  void add_sum(const char* name, std::function<void()> run) {
    add({.name = name,
         .run = std::move(run),
         .right = [this] { return sum_ == part_sum(0, all_.size()); },
         .before =
             [this] {
               sum_ = 0;
               rest();
             }});
  }

  // Until the idle threads of the case before sleep.
  static void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

  std::uint64_t part_sum(std::size_t from, std::size_t to) const {
    std::uint64_t some = 0;
    for (std::size_t i = from; i < to; ++i)
      some += all_[i];
    return some;
  }

#if defined(BENCH_NOPAL)
  void scan() { nopal::inclusive_scan(all_, all_.begin()); }
  std::uint64_t sum() const {
    return nopal::reduce(std::size_t{0}, all_.size(), std::uint64_t{0}, std::plus<>{},
                         [this](std::size_t i) { return std::uint64_t{all_[i]}; });
  }

  void pass_twice(unsigned workers) {
    std::vector<std::uint64_t> sums(workers);
    on_threads(workers, [&](std::size_t number, std::size_t from, std::size_t to) {
      sums[number] = part_sum(from, to);
    });
    on_threads(workers, [&](std::size_t number, std::size_t from, std::size_t to) {
      const auto add = static_cast<std::uint32_t>(sums[number]);
      for (std::size_t i = from; i < to; ++i)
        all_[i] += add;
    });
  }
  // This thread is one of them. What the others take to begin is less than 1 % of a pass.
  template <class F> void on_threads(unsigned workers, const F& f) const {
    const auto run = [&](std::size_t number) {
      f(number, all_.size() * number / workers, all_.size() * (number + 1) / workers);
    };
    std::vector<std::jthread> others;
    for (std::size_t number = 1; number < workers; ++number)
      others.emplace_back(run, number);
    run(0);
  }
#else
  void scan() { std::inclusive_scan(std::execution::par, all_.begin(), all_.end(), all_.begin()); }
  std::uint64_t sum() const {
    return tbb::parallel_reduce(range(), std::uint64_t{0}, add_part(), std::plus<>{});
  }
  tbb::blocked_range<std::size_t> range() const { return {0, all_.size()}; }
  struct adding {
    const scans* of;
    std::uint64_t operator()(const tbb::blocked_range<std::size_t>& part,
                             std::uint64_t some) const {
      return some + of->part_sum(part.begin(), part.end());
    }
  };
  adding add_part() const { return {this}; }
#endif

  const own_threads threads_;
  numbers all_;
  std::uint64_t sum_ = 0;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) { return bench::run_in_turn<bench::scans>("scans", argc, argv); }
