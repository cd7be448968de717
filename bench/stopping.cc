// SPDX-License-Identifier: MIT
// What a local event costs beside many strands that have nothing to do with it, in three cases that
// --n chooses. stopping.go has the last two for Go.
//
//   1  microseconds of a `cancel` of a cancel_scope, with its end, and of an `either`: alone
//      (`cancel`, `either`), beside fibers that wait (`beside_...`), beside fibers that wait in an
//      `either` each (`eithers_...`), beside stop tokens (`tokens_...`), and after all these have
//      ended (`after_...`). Medians
//   2  as many fibers of one cancelable, which wait for one event, are cancelled: `seconds` until
//      all have ended
//   3  as many fibers that wait two seconds each, with a deadline each: `late`, the longest wait
//      over two seconds, and `late_p50`
#include "bench/harness.h"

#include <nopal/cancelable.h>
#include <nopal/either.h>
#include <nopal/future.h>
#include <nopal/runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}
double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Fibers of the calling computation that wait until `end`.
class waiting_fibers {
public:
  // Each fiber waits in so many strands.
  template <class WaitIn> waiting_fibers(long number, WaitIn wait_in, long strands = 1) {
    for (long i = 0; i < number; ++i)
      nopal::spawn([this, wait_in] {
        wait_in([this] {
          begun_ += 1;
          end_.get();
          return 1;
        });
      });
    while (begun_ != number * strands)
      nopal::yield();
  }
  void end() { end_.set(1); }

private:
  std::atomic<long> begun_{0};
  nopal::ivar<int> end_;
};

class stopping final : public experiment {
public:
  stopping(const input& in, unsigned workers)
      : which_{in.n.value_or(1)}, number_{in.chosen == size::test    ? 500
                                          : in.chosen == size::quick ? 100'000
                                                                     : 1'000'000} {
    if (which_ < 1 || which_ > 3)
      throw std::invalid_argument("--n " + std::to_string(which_) +
                                  " is not known here; accepted are 1 (local), 2 (cancel) and 3 "
                                  "(timeouts)");
    nopal::configure({.num_workers = workers});
  }

  long n() const override { return which_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {}
  void warm_up() override {
    nopal::run([this] { note("warm_", 100); });
    metrics_.clear();
  }
  void compute() override {
    if (which_ == 1)
      local();
    else if (which_ == 2)
      nopal::run([this] { cancel_all(); });
    else
      timeouts();
  }
  bool verify() override { return right_; }
  counters read_counters() const override { return {}; }
  std::map<std::string, double> metrics() const override { return metrics_; }

private:
  // `happens` says whether it went as it should.
  template <class Happens> double us_of(int times, Happens happens) {
    std::vector<double> took;
    for (int i = 0; i < times; ++i) {
      const auto begin = clock::now();
      right_ = happens() && right_;
      took.push_back(1e6 * seconds_since(begin));
    }
    return median(took);
  }
  void note(const std::string& where, int times = 5001) {
    metrics_[where + "cancel"] = us_of(times, [] {
      bool ran = false; // not if a thief cancels the region before its child begins
      nopal::cancel_scope region;
      region.fork([&ran] { ran = true; });
      region.cancel();
      return region.try_join() == ran;
    });
    metrics_[where + "either"] =
        us_of(times, [] { return nopal::either([] { return 1; }, [] { return 2; }).has_value(); });
  }

  void local() {
    nopal::run([this] { note(""); });
    nopal::run([this] {
      waiting_fibers others{number_, [](auto wait) { wait(); }};
      note("beside_");
      others.end();
    });
    nopal::run([this] {
      waiting_fibers others{number_ / 10, [](auto wait) { nopal::either(wait, wait); }, 2};
      note("eithers_");
      others.end();
    });
    nopal::run([this] {
      waiting_fibers others{number_ / 10, [](auto wait) {
                              nopal::cancel_scope own;
                              const std::stop_token token = own.token();
                              wait();
                            }};
      note("tokens_");
      others.end();
    });
    nopal::run([this] { note("after_"); });
  }

  void cancel_all() {
    nopal::cancelable all;
    nopal::ivar<int> never;
    std::atomic<long> begun{0};
    for (long i = 0; i < number_; ++i)
      nopal::spawn(all, [&] {
        begun += 1;
        never.get();
      });
    while (begun != number_)
      nopal::yield();
    for (int i = 0; i < 100; ++i) // so that the last one waits
      nopal::yield();
    const auto begin = clock::now();
    all.cancel();
    metrics_["seconds"] = seconds_since(begin);
  }

  void timeouts() {
    constexpr std::chrono::seconds time{2};
    std::vector<double> waited(static_cast<std::size_t>(number_));
    nopal::run([&] {
      nopal::ivar<int> never;
      for (double& took : waited)
        nopal::spawn([&] {
          const auto begin = clock::now();
          nopal::cancel_scope s{time};
          s.fork([&] { never.get(); });
          right_ = !s.try_join() && right_;
          took = seconds_since(begin);
        });
    });
    metrics_["late"] = *std::max_element(waited.begin(), waited.end()) / 2;
    metrics_["late_p50"] = median(waited) / 2;
  }

  const long which_;
  const long number_;
  std::atomic<bool> right_{true};
  std::map<std::string, double> metrics_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "stopping", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned workers) {
        return std::make_unique<bench::stopping>(in, workers);
      }};
  return bench::run_program(what, argc, argv);
}
