// SPDX-License-Identifier: MIT
// The standard's parallel algorithms, one source for each backend: std_par-nopal and std_par-tbb.
// `NAME_N` is the algorithm on N elements: a thousand, a hundred thousand, and ten million, or a
// million where it sorts (strings: a tenth of that).
#include "bench/algorithms/in_turn.h"
#include "bench/algorithms/runtime.h"
#include "bench/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <execution>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {
namespace {

template <class T> std::vector<T> random_values(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto drawn = static_cast<std::int32_t>(mixed(i) >> 40);
    if constexpr (std::is_same_v<T, std::string>)
      values[i] = std::to_string(drawn);
    else
      values[i] = static_cast<T>(drawn);
  }
  return values;
}

// What all algorithms on elements of one type use: `in` begins as `given`.
template <class T> struct table {
  explicit table(std::size_t most) : given(random_values<T>(most)), in(given), out(given) {}

  std::vector<T> given;
  std::vector<T> in;
  std::vector<T> out;
};

// The elements [0, n) of a table's vectors, as an algorithm has them.
template <class T> struct part_of {
  T* in;
  T* out;
  std::size_t n;

  T* end() const { return in + n; }
  T* out_end() const { return out + n; }
  T* middle() const { return in + n / 2; }
};

constexpr auto is_odd = [](auto value) { return value % 2 != 0; };

class algorithms final : public in_turn {
public:
  algorithms(bool test, unsigned workers)
      : in_turn(test ? 1 : 2), test_(test), threads_(workers), numbers_(most()), reals_(most()),
        strings_(most() / 100) {
    add_reads();
    add_writes();
    add_orders();
  }

private:
  using int_part = part_of<std::int32_t>;
  using real_part = part_of<double>;
  static constexpr auto as_they_are = [](auto) {};

  std::size_t most() const { return test_ ? 1000 : 10'000'000; }

  // body(policy, part) returns a number. `changes`: it is given the same elements each time.
  template <class T, class Body, class Prepare = decltype(as_they_are)>
  void add_all(const char* name, table<T>& all, std::size_t most, bool changes, Body body,
               Prepare prepare = as_they_are) {
    most = std::min(most, all.given.size());
    constexpr std::size_t smaller[] = {1000, 100'000};
    for (const std::size_t n : smaller)
      if (n < most)
        add_one(name, all, n, changes, body, prepare);
    add_one(name, all, most, changes, body, prepare);
  }
  template <class T, class Body, class Prepare>
  void add_one(const char* name, table<T>& all, std::size_t n, bool changes, Body body,
               Prepare prepare) {
    const part_of<T> part{all.in.data(), all.out.data(), n};
    const auto renew = [&all, part, prepare] {
      std::copy_n(all.given.begin(), part.n, part.in);
      prepare(part);
    };
    const auto run = [this, body, part](auto policy) {
      result_ = static_cast<double>(body(policy, part));
    };
    const std::function<void()> nothing = [] {};
    add({.name = name + ("_" + std::to_string(n)),
         .run = [run] { run(std::execution::par); },
         .right = [this, run, renew] { return is_serial_result(run, renew); },
         .before = changes ? std::function<void()>{renew} : nothing,
         .begin = renew,
         .runs = n < 10'000      ? 51
                 : n < 1'000'000 ? 11
                                 : 1});
  }
  template <class Run, class Renew> bool is_serial_result(const Run& run, const Renew& renew) {
    const double parallel = result_;
    renew();
    run(std::execution::seq);
    return std::abs(parallel - result_) <= 1e-9 * std::abs(result_);
  }

  void add_reads();
  void add_writes();
  void add_orders();

  const bool test_;
  const own_threads threads_;
  table<std::int32_t> numbers_;
  table<double> reals_;
  table<std::string> strings_;
  double result_ = 0;
};

constexpr std::size_t large = 10'000'000;
constexpr std::size_t sorted = 1'000'000;

void algorithms::add_reads() {
  add_all("count_if", numbers_, large, false,
          [](auto par, int_part p) { return std::count_if(par, p.in, p.end(), is_odd); });
  add_all("reduce", numbers_, large, false,
          [](auto par, int_part p) { return std::reduce(par, p.in, p.end(), std::int64_t{0}); });
  add_all("transform_reduce", reals_, large, false, [](auto par, real_part p) {
    return std::transform_reduce(par, p.in, p.end(), p.in, 0.0);
  });
  add_all("min_element", numbers_, large, false,
          [](auto par, int_part p) { return *std::min_element(par, p.in, p.end()); });
  add_all("find_in_the_middle", numbers_, large, false,
          [](auto par, int_part p) { return std::find(par, p.in, p.end(), *p.middle()) - p.in; });
  add_all("find_nothing", numbers_, large, false,
          [](auto par, int_part p) { return std::find(par, p.in, p.end(), -1) - p.in; });
}

void algorithms::add_writes() {
  add_all("for_each", numbers_, large, false, [](auto par, int_part p) {
    std::for_each(par, p.in, p.end(), [](auto& value) { value = (value * 3 + 1) & 0xffffff; });
    return *p.middle();
  });
  add_all("transform", reals_, large, false, [](auto par, real_part p) {
    std::transform(par, p.in, p.end(), p.out, [](double x) { return x / (1 + x * x); });
    return p.out[p.n / 2];
  });
  add_all("inclusive_scan", reals_, large, false, [](auto par, real_part p) {
    std::inclusive_scan(par, p.in, p.end(), p.out);
    return p.out[p.n - 1];
  });
  add_all("exclusive_scan", reals_, large, false, [](auto par, real_part p) {
    std::exclusive_scan(par, p.in, p.end(), p.out, 0.0);
    return p.out[p.n - 1];
  });
  add_all("copy_if", numbers_, large, false, [](auto par, int_part p) {
    return std::copy_if(par, p.in, p.end(), p.out, is_odd) - p.out;
  });
  add_all("partition", numbers_, large, true,
          [](auto par, int_part p) { return std::partition(par, p.in, p.end(), is_odd) - p.in; });
}

void algorithms::add_orders() {
  add_all("sort", numbers_, sorted, true, [](auto par, int_part p) {
    std::sort(par, p.in, p.end());
    return *p.middle();
  });
  add_all("sort_strings", strings_, sorted / 10, true, [](auto par, part_of<std::string> p) {
    std::sort(par, p.in, p.end());
    return std::stod(*p.middle());
  });
  add_all("stable_sort", numbers_, sorted, true, [](auto par, int_part p) {
    std::stable_sort(par, p.in, p.end());
    return *p.middle();
  });
  add_all("partial_sort", numbers_, sorted, true, [](auto par, int_part p) {
    std::partial_sort(par, p.in, p.in + p.n / 100, p.end());
    return p.in[p.n / 100 - 1];
  });
  add_all(
      "merge", numbers_, sorted, false,
      [](auto par, int_part p) {
        std::merge(par, p.in, p.middle(), p.middle(), p.end(), p.out);
        return p.out[p.n / 2];
      },
      [](int_part p) {
        std::sort(p.in, p.middle());
        std::sort(p.middle(), p.end());
      });
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return bench::run_in_turn<bench::algorithms>("std_par", argc, argv);
}
