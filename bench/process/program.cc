// SPDX-License-Identifier: MIT
// One problem written with tasks on one of their backends (tasks_by_forks.h): bench/program.cc for
// programs that several processes run together.
//
// The problem's root is a trivially copyable function of no arguments; its result is verified by
// every process.
#include BENCH_BACKEND_HEADER
#include BENCH_PROBLEM_HEADER

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "bench/harness.h"

namespace bench {
namespace {

BENCH_TASK int tree(int depth) {
  if (depth == 0)
    return 1;
  BENCH_SCOPE(s);
  BENCH_SPAWN(s, left, tree, depth - 1);
  const int right = tree(depth - 1);
  BENCH_JOIN_TASK(s, left);
  return left + right;
}

using problem = BENCH_PROBLEM;
using result = decltype(std::declval<const problem&>().root()());

constexpr bool any_n = std::is_constructible_v<problem, size, long>;

template <class Problem> Problem make_problem(const input& in) {
  if constexpr (any_n) {
    if (in.n)
      return Problem(in.chosen, *in.n);
  }
  return Problem(in.chosen);
}

class on_tasks final : public experiment {
public:
  on_tasks(const input& in, unsigned workers, char** argv)
      : problem_(make_problem<problem>(in)), runtime_(workers, problem_.region_size(), argv) {}

  long n() const override { return problem_.n(); }
  std::uint64_t forks() const override { return problem_.forks(); }
  void prepare() override {}

  // Every process warms up equally often.
  void warm_up() override {
    for (int i = 0; i < 20; ++i)
      if (runtime_.run([] { return tree(12); }) != 4096)
        throw std::runtime_error("warming up gave a wrong result");
  }

  void compute() override { result_ = runtime_.run(problem_.root()); }
  bool verify() override { return result_ && problem_.verify(*result_); }
  counters read_counters() const override { return runtime_.read_counters(); }
  std::map<std::string, double> metrics() const override { return runtime_.metrics(); }
  bool speaks() const override { return runtime_.speaks(); }

private:
  problem problem_;
  task_runtime runtime_;
  std::optional<result> result_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{bench::BENCH_PROBLEM::name,
                            BENCH_RUNTIME,
                            bench::task_runtime::parallel,
                            bench::any_n,
                            false,
                            [argv](const bench::input& in, unsigned workers) {
                              return std::make_unique<bench::on_tasks>(in, workers, argv);
                            }};
  return bench::run_program(what, argc, argv);
}
