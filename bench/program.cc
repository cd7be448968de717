// SPDX-License-Identifier: MIT
// One benchmark program: the problem and the backend that the build names, put together.
//
// BENCH_BACKEND_HEADER and BENCH_PROBLEM_HEADER are the two files, BENCH_PROBLEM the problem's
// class, BENCH_RUNTIME the runtime's name. The backend comes first: the problem is written in its
// macros (see README.md).
#include BENCH_BACKEND_HEADER
#include BENCH_PROBLEM_HEADER

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "bench/harness.h"

namespace bench {
namespace {

BENCH_TASK int tree(int depth) {
  if (depth == 0)
    return 1;
  int left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, tree, depth - 1);
  const int right = tree(depth - 1);
  BENCH_JOIN(s);
  return left + right;
}

using problem = BENCH_PROBLEM;

// A problem whose constructor takes an n besides the size accepts --n.
constexpr bool any_n = std::is_constructible_v<problem, size, long>;
// One that can be made of the name of a file accepts --input.
constexpr bool any_file = std::is_constructible_v<problem, const std::string&>;

// In a template, so that what a problem lacks is not looked at.
template <class Problem> Problem make_problem(const input& in) {
  if constexpr (any_n) {
    if (in.n)
      return Problem(in.chosen, *in.n);
  }
  if constexpr (any_file) {
    if (in.file)
      return Problem(*in.file);
  }
  return Problem(in.chosen);
}

template <class Ran> std::map<std::string, double> metrics_of(const Ran& ran) {
  if constexpr (requires { ran.metrics(); })
    return ran.metrics();
  else
    return {};
}

class on_runtime final : public experiment {
public:
  on_runtime(const input& in, unsigned workers)
      : problem_(make_problem<problem>(in)), runtime_(workers) {}

  long n() const override { return problem_.n(); }
  std::uint64_t forks() const override { return problem_.forks(); }
  void prepare() override { problem_.prepare(); }

  // Threads start with the first forks; forking for a while gives each time to arrive.
  void warm_up() override {
    using clock = std::chrono::steady_clock;
    const auto until = clock::now() + std::chrono::milliseconds(10);
    while (clock::now() < until) {
      runtime_.run([] {
        if (tree(8) != 256)
          std::abort();
      });
    }
  }

  void compute() override {
    runtime_.run([this] { problem_.compute(); });
  }

  bool verify() override { return problem_.verify(); }
  counters read_counters() const override { return runtime_.read_counters(); }
  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> all = metrics_of(runtime_);
    all.merge(metrics_of(problem_));
    return all;
  }

private:
  problem problem_;
  runtime runtime_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{bench::BENCH_PROBLEM::name,
                            BENCH_RUNTIME,
                            bench::runtime::parallel,
                            bench::any_n,
                            bench::any_file,
                            [](const bench::input& in, unsigned workers) {
                              return std::make_unique<bench::on_runtime>(in, workers);
                            }};
  return bench::run_program(what, argc, argv);
}
