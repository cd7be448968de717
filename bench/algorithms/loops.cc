// SPDX-License-Identifier: MIT
// Twelve loops from main, without a grain: memory-bound, compute-bound, irregular, nested, tiny.
// `NAME` is the runtime's. Of Nopal also `NAME_serial`, the plain loop, and `NAME_grainN`, with
// grains that are given, as far as a loop has neither fewer iterations nor too many pieces.
#include "bench/algorithms/in_turn.h"
#include "bench/algorithms/runtime.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace bench {
namespace {

struct serially {
  template <class Body> void operator()(std::size_t count, const Body& body) const {
    for (std::size_t i = 0; i < count; ++i)
      body(i);
  }
};
struct lazily {
  template <class Body> void operator()(std::size_t count, const Body& body) const {
    parallel_loop(count, body);
  }
};
#if defined(BENCH_NOPAL)
struct by_grain {
  std::size_t grain;

  template <class Body> void operator()(std::size_t count, const Body& body) const {
    parallel_loop(count, body, grain);
  }
};
#endif

class loops final : public in_turn {
public:
  loops(bool test, unsigned workers)
      : in_turn(test ? 1 : 3), test_(test), threads_(workers), in_(part(4'000'000) + 2, 2.0),
        out_(in_.size(), 1.0) {
    double* const x = out_.data();
    const double* const y = in_.data();
    const std::size_t large = in_.size() - 2;
    add_loop("memory", large, [=](std::size_t i) { x[i] = y[i] * 3 + 1; });
    add_loop("stencil", large, [=](std::size_t i) { x[i] = y[i] + y[i + 1] + y[i + 2]; });
    add_loop("compute", part(10'000), [=](std::size_t i) { x[i] = work(500); });
    add_loop("dear", 64, [x, steps = part(40'000)](std::size_t i) { x[i] = work(steps); });
    const std::size_t slope = part(3000);
    add_loop("rising", slope, [=](std::size_t i) { x[i] = work(i); });
    add_loop("falling", slope, [=](std::size_t i) { x[i] = work(slope - i); });
    add_loop("few_dear", part(100'000),
             [=](std::size_t i) { x[i] = work(i % 9973 == 0 ? 200'000 : 10); });
    add_loop("microsecond", part(8000), [=](std::size_t i) { x[i] = work(370); });
    add_again("root", 100'000, 10, [=](std::size_t i) { x[i] = std::sqrt(y[i]); });
    add_again("tiny", 1000, 1000, [=](std::size_t i) { x[i] = y[i] + 1; });
    add_again("empty", 1000, 1000, [](std::size_t i) { asm volatile("" ::"r"(i)); });
    const std::size_t side = test ? 30 : 300;
    add_whole("nested", side, side * side, [=](auto loop) {
      loop(side,
           [=](std::size_t i) { loop(side, [=](std::size_t k) { x[side * i + k] = work(30); }); });
    });
  }

private:
  std::size_t part(std::size_t count) const { return test_ ? count / 100 : count; }

  template <class Body> void add_loop(const char* name, std::size_t count, const Body& body) {
    add_whole(name, count, count, [=](auto loop) { loop(count, body); });
  }
  template <class Body>
  void add_again(const char* name, std::size_t count, int times, const Body& body) {
    times = test_ ? 1 : times;
    count = std::min(count, in_.size());
    add_whole(name, count, count, [=](auto loop) {
      for (int k = 0; k < times; ++k) {
        loop(count, body);
        asm volatile("" ::: "memory");
      }
    });
  }

  // whole(loop) makes it of `loop`; it fills so many elements of the output.
  template <class Whole>
  void add_whole(const std::string& name, std::size_t count, std::size_t filled,
                 const Whole& whole) {
    clear(filled);
    whole(serially{});
    const double sum = sum_of(filled);
    const auto add_as = [&](const std::string& as, auto loop) {
      // Where caches decide, it must not matter what ran before. One pass over memory does not
      // bring all of it back.
      const int passes = filled > 1'000'000 ? 5 : filled > 10'000 ? 1 : 0;
      add({.name = as,
           .group = name,
           .run = [=] { whole(loop); },
           .right = [=, this] { return sum_of(filled) == sum && clear(filled); },
           .begin =
               [=] {
                 for (int pass = 0; pass < passes; ++pass)
                   whole(loop);
               }});
    };
    clear(filled);
    add_as(name, lazily{});
#if defined(BENCH_NOPAL)
    add_as(name + "_serial", serially{});
    constexpr std::size_t grains[] = {1, 16, 256, 4096, 65536};
    for (const std::size_t grain : grains)
      if (grain < count && count / grain <= 50'000)
        add_as(name + "_grain" + std::to_string(grain), by_grain{grain});
#else
    static_cast<void>(count);
#endif
  }

  bool clear(std::size_t filled) {
    std::fill_n(out_.begin(), filled, 0.0);
    return true;
  }
  double sum_of(std::size_t filled) const {
    return std::accumulate(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(filled), 0.0);
  }

  const bool test_;
  const own_threads threads_;
  std::vector<double> in_;
  std::vector<double> out_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) { return bench::run_in_turn<bench::loops>("loops", argc, argv); }
