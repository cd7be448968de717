// SPDX-License-Identifier: MIT
// Measures what fibers cost and how they share threads, in six cases that --n chooses:
//
//   1  two fibers that yield to each other: `ns` for each switch
//   2  two fibers that send each other a value: `ns` for each message
//   3  a fiber that computes and polls, beside a hundred that get a message now and then: `p50_ms`
//      and `p99_ms` from its send until a fiber has received it
//   4  two computations with shares 3 and 1, each with four fibers and a scheduler of its own:
//      `ratio` of their processor time
//   5  many fibers that wait: `bytes` of memory for each, page tables counted
//   6  two computations by work stealing, each on half of the vprocs, by provision: `ratio` of
//      their processor time
#include "bench/harness.h"

#include <nopal/channel.h>
#include <nopal/policies.h>
#include <nopal/preemption.h>
#include <nopal/runtime.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

double since(clock::time_point begin) { return seconds{clock::now() - begin}.count(); }

// How much each case does at a size.
struct amounts {
  long switches;
  long messages;
  double messages_s; // of the case 3
  double shares_s;   // of the case 4
  long fibers;
};
constexpr amounts amounts_of(size s) {
  return s == size::test    ? amounts{1000, 1000, 0.3, 0.3, 1000}
         : s == size::quick ? amounts{2'000'000, 1'000'000, 3, 10, 100'000}
                            : amounts{10'000'000, 5'000'000, 10, 10, 100'000};
}

double memory_bytes() {
  double kib = 0;
  std::FILE* const status = std::fopen("/proc/self/status", "re");
  if (status == nullptr)
    throw std::runtime_error("/proc/self/status cannot be read, so memory is not known");
  char line[256];
  for (unsigned long number = 0; std::fgets(line, sizeof line, status) != nullptr;)
    if (std::sscanf(line, "VmRSS: %lu kB", &number) == 1 ||
        std::sscanf(line, "VmPTE: %lu kB", &number) == 1)
      kib += static_cast<double>(number);
  std::fclose(status);
  return kib * 1024;
}

class fibers final : public experiment {
public:
  fibers(const input& in, unsigned workers)
      : which_{in.n.value_or(1)}, much_{amounts_of(in.chosen)}, workers_{workers} {
    if (which_ < 1 || which_ > 6)
      throw std::invalid_argument(
          "--n " + std::to_string(which_) +
          " is not known; accepted are 1 (switch), 2 (message), 3 (fairness), 4 (shares), 5 "
          "(memory) and 6 (provision)");
    nopal::options asked;
    asked.num_workers = workers;
    if (which_ == 5)
      asked.fiber_guards = false; // a kernel without guard regions allows 29,700 with them
    nopal::configure(asked);
  }

  long n() const override { return which_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {}
  void warm_up() override {
    nopal::run([] { nopal::spawn([] {}); });
  }
  void compute() override {
    switch (which_) {
    case 1:
      return switches();
    case 2:
      return messages();
    case 3:
      return fairness();
    case 4:
      return shares();
    case 5:
      return memory();
    default:
      return provision();
    }
  }
  bool verify() override { return right_; }
  counters read_counters() const override {
    counters now;
    now.steals = nopal::stats().steals;
    return now;
  }
  std::map<std::string, double> metrics() const override { return metrics_; }

private:
  void switches() {
    long done = 0;
    const auto turns = [&] {
      for (long i = 0; i < much_.switches / 2; ++i, ++done)
        nopal::yield();
    };
    const auto begin = clock::now();
    nopal::run([&] {
      nopal::spawn(turns);
      nopal::spawn(turns);
    });
    metrics_["ns"] = since(begin) * 1e9 / static_cast<double>(done);
    right_ = done == much_.switches / 2 * 2;
  }

  // The way there and the way back are two messages.
  void messages() {
    nopal::channel<long> there;
    nopal::channel<long> back;
    long sum = 0;
    const long pairs = much_.messages / 2;
    const auto begin = clock::now();
    nopal::run([&] {
      nopal::spawn([&] {
        for (long i = 0; i < pairs; ++i)
          back.send(there.recv() + 1);
      });
      nopal::spawn([&] {
        for (long i = 0; i < pairs; ++i) {
          there.send(i);
          sum += back.recv();
        }
      });
    });
    metrics_["ns"] = since(begin) * 1e9 / static_cast<double>(2 * pairs);
    right_ = sum == pairs * (pairs + 1) / 2;
  }

  // A thread of its own, as a device would, sends to one fiber after the other. With one
  // worker the receiver runs only when the fiber that computes has been preempted. Where the worker
  // has no processor for five ticks, a spare runs receivers too; so each keeps its own latencies.
  void fairness() {
    constexpr std::size_t reactive = 100;
    using sent = clock::time_point;
    std::vector<nopal::channel<sent>> mail(reactive);
    std::vector<std::vector<double>> late_ms_of(reactive);
    std::atomic<std::size_t> left{reactive};
    const auto send = [&] {
      const auto begin = clock::now();
      for (std::size_t i = 0; since(begin) < much_.messages_s; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        mail[i % reactive].send(clock::now());
      }
      for (nopal::channel<sent>& each : mail)
        each.send(sent{});
    };
    std::thread world;
    nopal::run([&] {
      for (std::size_t i = 0; i < reactive; ++i)
        nopal::spawn([&, i] {
          for (sent when = mail[i].recv(); when != sent{}; when = mail[i].recv())
            late_ms_of[i].push_back(since(when) * 1e3);
          --left;
        });
      world = std::thread{send};
      while (left != 0) {
        for (int i = 0; i < 100; ++i)
          asm volatile("" ::: "memory");
        nopal::poll();
      }
    });
    world.join();
    std::vector<double> late_ms;
    for (const std::vector<double>& of_one : late_ms_of)
      late_ms.insert(late_ms.end(), of_one.begin(), of_one.end());
    std::ranges::sort(late_ms);
    right_ = late_ms.size() > 10;
    if (!right_)
      return;
    metrics_["p50_ms"] = late_ms[late_ms.size() / 2];
    metrics_["p99_ms"] = late_ms[late_ms.size() * 99 / 100];
    metrics_["max_ms"] = late_ms.back();
  }

  static double cpu_s() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

  // Each fiber adds up the processor time between two of its polls that lie in one turn: a turn's
  // end shows as more than a millisecond.
  void compute_and_poll(double& used, clock::time_point begin) const {
    for (double before = cpu_s(); since(begin) < much_.shares_s;) {
      for (int i = 0; i < 1000; ++i)
        asm volatile("" ::: "memory");
      nopal::poll();
      const double now = cpu_s();
      if (now - before < 1e-3)
        used += now - before;
      before = now;
    }
  }

  static constexpr int fibers_of_each = 4;
  using used_by_fiber = std::vector<double>;

  template <class Scheduler>
  void compute_in(Scheduler& policy, used_by_fiber& used, clock::time_point begin) {
    used.resize(fibers_of_each);
    nopal::run(policy, [&] {
      for (double& each : used)
        nopal::spawn([&] { compute_and_poll(each, begin); });
    });
  }
  void tell_ratio(const used_by_fiber& first, const used_by_fiber& second) {
    const double of_first = std::accumulate(first.begin(), first.end(), 0.0);
    const double of_second = std::accumulate(second.begin(), second.end(), 0.0);
    metrics_["seconds"] = of_first + of_second;
    metrics_["ratio"] = of_first / of_second;
    right_ = of_second > 0;
  }

  void shares() {
    nopal::proportional_share by_shares;
    nopal::round_robin own[2];
    used_by_fiber used[2];
    const auto begin = clock::now();
    nopal::run(by_shares, [&] {
      for (const int which : {0, 1})
        nopal::spawn([&, which] {
          by_shares.set_share(which == 0 ? 3 : 1);
          compute_in(own[which], used[which], begin);
        });
    });
    tell_ratio(used[0], used[1]);
  }

  void provision() {
    const unsigned half = std::max(1u, workers_ / 2);
    nopal::work_stealing first{half, nopal::placement::provisioned};
    nopal::work_stealing second{half, nopal::placement::provisioned};
    used_by_fiber used[2];
    const auto begin = clock::now();
    nopal::run([&] {
      nopal::spawn([&] { compute_in(first, used[0], begin); });
      nopal::spawn([&] { compute_in(second, used[1], begin); });
    });
    tell_ratio(used[0], used[1]);
  }

  void memory() {
    nopal::channel<int> begun;
    nopal::channel<int> go_on;
    const long count = much_.fibers;
    std::atomic<long> ended{0};
    nopal::run([&] {
      const double before = memory_bytes();
      for (long i = 0; i < count; ++i)
        nopal::spawn([&] {
          begun.send(1);
          go_on.recv();
          ended += 1;
        });
      for (long i = 0; i < count; ++i)
        begun.recv();
      metrics_["bytes"] = (memory_bytes() - before) / static_cast<double>(count);
      for (long i = 0; i < count; ++i)
        go_on.send(1);
    });
    metrics_["fibers"] = static_cast<double>(count);
    right_ = ended == count;
  }

  const long which_;
  const amounts much_;
  const unsigned workers_;
  bool right_ = false;
  std::map<std::string, double> metrics_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "fibers", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned workers) {
        return std::make_unique<bench::fibers>(in, workers);
      }};
  return bench::run_program(what, argc, argv);
}
