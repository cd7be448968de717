// SPDX-License-Identifier: MIT
// latency: the time of each one-sided operation by itself, as in Figure 9 of uni-address-hpdc15,
// from process 0 to a process 1 that computes all the time; --n is the number of timings of each.
//
// It tells nanoseconds: medians over batches, since an operation can be shorter than the clock's
// step. Single operations of 8 bytes show whether some take far longer than others: it tells the
// times within which 50, 90 and 99 % of them end. It needs two processes. Between machines no
// operation swaps, or adds and waits, so it does not tell these two there.
#include "bench/harness.h"
#include "bench/unit.h"
#include "nopal/base/os.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/transport/layout.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace bench {
namespace {

namespace process = nopal::process;
using clock = std::chrono::steady_clock;

constexpr std::size_t largest = std::size_t{64} << 10;

class latency final : public experiment {
public:
  latency(const input& in, unsigned workers)
      : times_{in.n.value_or(in.chosen == size::test ? 100 : 10'000)} {
    const auto options = process::resolve(
        {.processes = workers, .region_size = layout_.region_size, .heap_size = layout_.heap_size},
        std::getenv, 0);
    if (const auto* const complaint = std::get_if<std::string>(&options))
      throw std::invalid_argument(*complaint);
    launch_ = process::begin_launch(std::get<process::options>(options));
    if (launch_->size() != 2)
      throw std::invalid_argument("latency is between two processes; accepted is --workers 2");
    transport_ = launch_->connect(layout_);
  }
  ~latency() override {
    transport_->flush();
    static_cast<void>(launch_->finish());
  }

  long n() const override { return times_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {
    heap_ = reinterpret_cast<unsigned char*>(layout_.heap_at());
    words_ = reinterpret_cast<process::word*>(layout_.heap_at() + largest);
    if (launch_->rank() == 1)
      for (std::size_t i = 0; i < largest; ++i)
        heap_[i] = static_cast<unsigned char>(i * 7);
    meet();
  }
  void warm_up() override {}

  void compute() override {
    if (launch_->rank() == 0) {
      time_all();
      transport_->post_store(1, words_[done], 1);
    } else {
      while (words_[done].load(nopal::base::acquire) == 0)
        spinning::units(10);
    }
    meet();
  }

  // The bytes got are those that lie there, and all additions have been made.
  bool verify() override {
    if (launch_->rank() == 1)
      return !transport_->near(0) ||
             words_[counter].load(nopal::base::acquire) == batch * batches();
    for (std::size_t i = 0; i < largest; ++i)
      if (got_[i] != static_cast<unsigned char>(i * 7))
        return false;
    return true;
  }
  counters read_counters() const override { return {}; }
  std::map<std::string, double> metrics() const override { return metrics_; }
  bool speaks() const override { return launch_->rank() == 0; }

private:
  enum place { done, counter, swapped };
  static constexpr std::uint32_t batch = 10;

  std::uint32_t batches() const {
    return static_cast<std::uint32_t>(std::max<long>(1, times_ / batch));
  }

  void meet() {
    char own = 0;
    char all[2];
    launch_->all_gather(&own, all, 1);
  }

  void time_all() {
    got_.resize(largest);
    std::vector<unsigned char> given(largest);
    for (std::size_t bytes = 8; bytes <= largest; bytes *= 2) {
      time("get_" + std::to_string(bytes), [&] { transport_->get(1, got_.data(), heap_, bytes); });
      time("put_" + std::to_string(bytes),
           [&] { transport_->put(1, heap_ + 2 * largest, given.data(), bytes); });
    }
    time_each("one_get", [&] { transport_->get(1, got_.data(), heap_, 8); });
    if (!transport_->near(1))
      return; // on another machine, where only a put and a get can be waited for
    time("fetch_add", [&] { transport_->near(1).add(words_[counter], 1); });
    std::uint32_t was = 0;
    time("compare_swap", [&] {
      transport_->near(1).compare_swap(words_[swapped], was, was + 1);
      ++was;
    });
  }

  void time(const std::string& name, const std::function<void()>& operation) {
    metrics_[name] = quantile(times_of(batches(), batch, operation), 50);
  }
  void time_each(const std::string& name, const std::function<void()>& operation) {
    const std::vector<double> each = times_of(batches() * batch, 1, operation);
    for (const unsigned percent : {50u, 90u, 99u})
      metrics_[name + "_" + std::to_string(percent)] = quantile(each, percent);
  }

  // The nanoseconds for each operation in each of `times` batches, ascending.
  static std::vector<double> times_of(std::uint32_t times, std::uint32_t size,
                                      const std::function<void()>& operation) {
    std::vector<double> each(times);
    for (double& ns : each) {
      const auto begin = clock::now();
      for (std::uint32_t k = 0; k < size; ++k)
        operation();
      ns = std::chrono::duration<double, std::nano>(clock::now() - begin).count() / size;
    }
    std::ranges::sort(each);
    return each;
  }
  static double quantile(const std::vector<double>& ascending, unsigned percent) {
    return ascending[std::min(ascending.size() * percent / 100, ascending.size() - 1)];
  }

  const long times_;
  const process::layout layout_{std::size_t{1} << 20, std::size_t{64} << 10};
  std::unique_ptr<process::launch> launch_;
  std::unique_ptr<process::transport> transport_; // destroyed before launch_, after finish()
  unsigned char* heap_ = nullptr;
  process::word* words_ = nullptr;
  std::vector<unsigned char> got_;
  std::map<std::string, double> metrics_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "latency", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned workers) {
        return std::make_unique<bench::latency>(in, workers);
      }};
  return bench::run_program(what, argc, argv);
}
