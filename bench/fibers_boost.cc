// SPDX-License-Identifier: MIT
// Case 1 of fibers.cc with Boost.Context: a switch between two contexts, which carries neither
// errno nor exceptions, and which no scheduler chooses.
#include "bench/harness.h"

#include <boost/context/fiber.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

namespace context = boost::context;

class fibers_boost final : public experiment {
public:
  explicit fibers_boost(const input& in)
      : switches_{in.chosen == size::test    ? 1000
                  : in.chosen == size::quick ? 2'000'000
                                             : 10'000'000} {
    if (in.n.value_or(1) != 1)
      throw std::invalid_argument("--n " + std::to_string(*in.n) +
                                  " is not known; accepted is 1 (switch)");
  }

  long n() const override { return 1; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {}
  void warm_up() override {}
  // The way to the other context and back is two switches.
  void compute() override {
    long done = 0;
    bool stop = false;
    const auto begin = std::chrono::steady_clock::now();
    context::fiber other{[&](context::fiber&& back) {
      while (!stop) {
        ++done;
        back = std::move(back).resume();
      }
      return std::move(back);
    }};
    for (long i = 0; i < switches_ / 2; ++i) {
      ++done;
      other = std::move(other).resume();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    stop = true;
    other = std::move(other).resume();
    ns_ = took.count() * 1e9 / static_cast<double>(done);
    right_ = done == switches_ / 2 * 2;
  }
  bool verify() override { return right_; }
  counters read_counters() const override { return {}; }
  std::map<std::string, double> metrics() const override { return {{"ns", ns_}}; }

private:
  const long switches_;
  double ns_ = 0;
  bool right_ = false;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "fibers", BENCH_RUNTIME, false, true, false, [](const bench::input& in, unsigned) {
        return std::make_unique<bench::fibers_boost>(in);
      }};
  return bench::run_program(what, argc, argv);
}
