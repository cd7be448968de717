// SPDX-License-Identifier: MIT
// One sort, by comparison, of what --n chooses:
//
//   1  uniform        10^7 numbers of 32 bits
//   2  few_values     as many, of 100 values
//   3  almost_sorted  as many in order, of which one in a hundred has been exchanged
//   4  strings        10^6 strings of about a dozen letters
//   5  fractions      10^7 numbers of 64 bits with a fraction
//
// The size `paper` has ten times as many of each.
// `serial` is std::sort, `tbb` std::sort(std::execution::par) on oneTBB.
#include "bench/harness.h"
#include "bench/random.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(BENCH_NOPAL)
#include <nopal/runtime.h>
#include <nopal/sort.h>
#elif defined(BENCH_TBB)
#include <execution>
#include <tbb/global_control.h>
#elif defined(BENCH_IPS4O)
#include <ips4o.hpp>
#elif defined(BENCH_PARLAY)
#include <parlay/primitives.h>
#endif

namespace bench {
namespace {

#if defined(BENCH_NOPAL)

class sorter {
public:
  explicit sorter(unsigned workers) { nopal::configure({.num_workers = workers}); }
  template <class T> void operator()(std::vector<T>& all) { nopal::sort(all); }
};

#elif defined(BENCH_TBB)

class sorter {
public:
  explicit sorter(unsigned workers)
      : most_{tbb::global_control::max_allowed_parallelism, workers} {}
  template <class T> void operator()(std::vector<T>& all) {
    std::sort(std::execution::par, all.begin(), all.end());
  }

private:
  const tbb::global_control most_;
};

#elif defined(BENCH_IPS4O)

class sorter {
public:
  explicit sorter(unsigned workers) : threads_{static_cast<int>(workers)} {}
  template <class T> void operator()(std::vector<T>& all) {
    ips4o::parallel::sort(all.begin(), all.end(), std::less<>{}, threads_);
  }

private:
  ips4o::StdThreadPool threads_;
};

#elif defined(BENCH_PARLAY)

class sorter {
public:
  explicit sorter(unsigned workers) { // read at the first use
    setenv("PARLAY_NUM_THREADS", std::to_string(workers).c_str(), 1);
  }
  template <class T> void operator()(std::vector<T>& all) { parlay::sort_inplace(all); }
};

#else

class sorter {
public:
  explicit sorter(unsigned) {}
  template <class T> void operator()(std::vector<T>& all) { std::sort(all.begin(), all.end()); }
};

#endif

using numbers = std::vector<std::uint32_t>;
using strings = std::vector<std::string>;
using fractions = std::vector<double>;

numbers numbers_of(std::size_t count, long which) {
  numbers all(count);
  if (which == 3)
    std::iota(all.begin(), all.end(), 0u);
  else
    for (std::size_t i = 0; i < count; ++i)
      all[i] = static_cast<std::uint32_t>(which == 2 ? mixed(i) % 100 : mixed(i));
  if (which == 3)
    for (std::size_t i = 0; i < count / 100; ++i)
      std::swap(all[mixed(2 * i) % count], all[mixed(2 * i + 1) % count]);
  return all;
}
strings strings_of(std::size_t count) {
  strings all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = "key " + std::to_string(static_cast<std::uint32_t>(mixed(i)));
  return all;
}

fractions fractions_of(std::size_t count) {
  fractions all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<double>(static_cast<std::int64_t>(mixed(i))) / 1024;
  return all;
}

class sorting final : public experiment {
public:
  sorting(const input& in, unsigned workers)
      : which_{in.n.value_or(1)}, size_{in.chosen}, sort_{workers} {
    if (which_ > 5)
      throw std::invalid_argument("--n " + std::to_string(which_) +
                                  " is not known; accepted are --n 1 to 5");
  }

  long n() const override { return which_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {
    const std::size_t count = size_ == size::test    ? 100'000
                              : size_ == size::paper ? 100'000'000
                                                     : 10'000'000;
    if (which_ == 4)
      strings_ = strings_of(count / 10);
    else if (which_ == 5)
      fractions_ = fractions_of(count);
    else
      numbers_ = numbers_of(count, which_);
    sum_ = sum();
  }
  void warm_up() override {
    numbers few = numbers_of(100'000, 1);
    sort_(few);
  }
  void compute() override {
    if (which_ == 4)
      sort_(strings_);
    else if (which_ == 5)
      sort_(fractions_);
    else
      sort_(numbers_);
  }
  bool verify() override {
    return std::is_sorted(numbers_.begin(), numbers_.end()) &&
           std::is_sorted(strings_.begin(), strings_.end()) &&
           std::is_sorted(fractions_.begin(), fractions_.end()) && sum() == sum_;
  }
  counters read_counters() const override { return {}; }

private:
  // The same for every order of the same keys.
  std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const std::uint32_t each : numbers_)
      all += mixed(each);
    for (const std::string& each : strings_)
      all += std::hash<std::string>{}(each);
    for (const double each : fractions_)
      all += mixed(std::bit_cast<std::uint64_t>(each));
    return all;
  }

  const long which_;
  const size size_;
  sorter sort_;
  numbers numbers_;
  strings strings_;
  fractions fractions_;
  std::uint64_t sum_ = 0;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  constexpr bool parallel = std::string_view{BENCH_RUNTIME} != "serial";
  const bench::program what{"sorting",
                            BENCH_RUNTIME,
                            parallel,
                            true,
                            false,
                            [](const bench::input& in, unsigned workers) {
                              return std::make_unique<bench::sorting>(in, workers);
                            }};
  return bench::run_program(what, argc, argv);
}
