// SPDX-License-Identifier: MIT
// Measures what workers without work cost, in three cases that --n chooses:
//
//   1  all of them sleep beside one serial thread
//   2  one strand forks a child of 30 microseconds again and again, with nothing else to steal
//   3  bursts of work: as many leaves as workers, each of which waits until all have begun; `start`
//      is until then, from the time when all but one slept, and `end` until they sleep again
//
// It tells how much processor time it and others took, and what was counted (counted/directory.h);
// with the ordinary library only calls are counted.
#include "bench/counted/directory.h"
#include "bench/harness.h"
#include "bench/unit.h"

#include <nopal/fork.h>
#include <nopal/runtime.h>

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

constexpr std::chrono::microseconds child_time{30};
constexpr long bursts_wanted = 10;

double cpu_s(clockid_t which) {
  timespec now{};
  if (clock_gettime(which, &now) != 0)
    throw std::runtime_error("clock_gettime failed");
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The seconds in which the machine's processors have been busy since it started.
double machine_busy_s() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0;
  if (!(file >> name >> user >> nice >> system >> idle >> waiting >> hard >> soft))
    throw std::runtime_error("/proc/stat does not tell what the processors did");
  return static_cast<double>(user + nice + system + hard + soft) /
         static_cast<double>(sysconf(_SC_CLK_TCK));
}

// The number of units that take the time of a child: the least of several tries, as other programs
// may want the processor.
long units_of_a_child() {
  constexpr long some = 1000;
  seconds least{1e9};
  for (int i = 0; i < 20; ++i) {
    const auto begin = clock::now();
    spinning::units(some);
    least = std::min(least, seconds{clock::now() - begin});
  }
  return static_cast<long>(static_cast<double>(some) * (seconds{child_time} / least)) + 1;
}

double duration_s(size s) { return s == size::test ? 0.05 : s == size::quick ? 1.0 : 5.0; }

struct reading {
  double time_s = 0;
  double cpu = 0;
  double machine_busy = 0;
  std::uint64_t steals = 0;
  counted::totals counts{};

  static reading now() {
    const counted::unnoticed looking;
    return {seconds{clock::now().time_since_epoch()}.count(), cpu_s(CLOCK_PROCESS_CPUTIME_ID),
            machine_busy_s(), nopal::stats().steals, counted::so_far()};
  }
};

class idle final : public experiment {
public:
  idle(const input& in, unsigned workers)
      : which_{in.n.value_or(1)}, workers_{workers}, duration_{duration_s(in.chosen)} {
    if (which_ < 1 || which_ > 3)
      throw std::invalid_argument("--n " + std::to_string(which_) +
                                  " is not known; accepted are 1 (serial), 2 (forks) and 3 "
                                  "(bursts)");
    nopal::options asked;
    asked.num_workers = workers;
    nopal::configure(asked);
  }

  long n() const override { return which_; }
  std::uint64_t forks() const override { return forks_; }
  void prepare() override { units_ = units_of_a_child(); }
  void warm_up() override {
    burst();
    metrics_.clear();
    burst_is_right_ = true;
  }
  void compute() override {
    if (which_ == 1)
      serial();
    else if (which_ == 2)
      forks_of_one_strand();
    else
      bursts();
  }
  bool verify() override { return burst_is_right_ && metrics_["unknown_lines"] == 0; }
  std::map<std::string, double> metrics() const override { return metrics_; }

  counters read_counters() const override {
    const counted::unnoticed looking;
    counters now;
    now.steals = nopal::stats().steals;
    return now;
  }

private:
  void tell(const std::string& phase, const reading& begin, const reading& end) {
    metrics_[phase + "seconds"] += end.time_s - begin.time_s;
    metrics_[phase + "cpu_s"] += end.cpu - begin.cpu;
    metrics_[phase + "machine_busy_s"] += end.machine_busy - begin.machine_busy;
    metrics_[phase + "steals"] += static_cast<double>(end.steals - begin.steals);
    for (std::size_t i = 0; i < counted::names.size(); ++i)
      metrics_[phase + counted::names[i]] += static_cast<double>(end.counts[i] - begin.counts[i]);
  }

  // Workers fall asleep soon, one after another. There is no event to wait for: this must not
  // disturb them.
  void until_all_sleep() const {
    constexpr std::chrono::milliseconds between{1};
    for (int quiet = 0; quiet < 5; ++quiet) {
      std::this_thread::sleep_for(between);
      if (counted::asleep() != workers_ - 1)
        quiet = 0;
    }
  }

  bool time_is_left() const { return seconds{clock::now() - begin_} < seconds{duration_}; }

  void serial() {
    until_all_sleep();
    const reading before = reading::now();
    begin_ = clock::now();
    while (time_is_left())
      spinning::units(units_);
    tell("", before, reading::now());
  }

  void forks_of_one_strand() {
    nopal::scope s; // the strand below is an ordinary one, not the external thread's own
    s.fork([this] {
      const reading before = reading::now();
      begin_ = clock::now();
      while (time_is_left())
        one_fork();
      tell("", before, reading::now());
    });
    s.join();
    metrics_["forks"] = static_cast<double>(forks_);
    metrics_["own_cpu_s"] = own_cpu_s_;
  }

  [[gnu::noinline]] void one_fork() {
    nopal::scope s;
    s.fork([this] {
      const double begin = cpu_s(CLOCK_THREAD_CPUTIME_ID);
      spinning::units(units_);
      own_cpu_s_ += cpu_s(CLOCK_THREAD_CPUTIME_ID) - begin;
      ++forks_;
    });
    s.join();
  }

  void bursts() {
    begin_ = clock::now();
    long done = 0;
    for (; done < bursts_wanted || time_is_left(); ++done)
      burst();
    metrics_["bursts"] = static_cast<double>(done);
    metrics_["unknown_lines"] = metrics_["start.unknown_lines"] + metrics_["end.unknown_lines"];
  }

  void burst() {
    sem_init(&all_have_begun_, 0, 0);
    begun_.store(0);
    nopal::scope s;
    // The first fork of the program starts the threads.
    s.fork([] {});
    s.join();
    until_all_sleep();
    const reading before = reading::now();
    s.fork([this] { leaves(workers_); });
    s.join();
    until_all_sleep();
    tell("start.", before, all_at_work_);
    tell("end.", all_at_work_, reading::now());
    burst_is_right_ = burst_is_right_ && begun_.load() == workers_;
    sem_destroy(&all_have_begun_);
  }

  void leaves(unsigned count) {
    if (count == 1)
      return leaf();
    nopal::scope s;
    s.fork([this, count] { leaves(count / 2); });
    leaves(count - count / 2);
    s.join();
  }

  // Blocks the worker's thread: on a machine with as many processors it would compute.
  void leaf() {
    if (begun_.fetch_add(1) + 1 < workers_) {
      while (sem_wait(&all_have_begun_) != 0) {
      }
      return;
    }
    all_at_work_ = reading::now();
    for (unsigned i = 1; i < workers_; ++i)
      sem_post(&all_have_begun_);
  }

  const long which_;
  const unsigned workers_;
  const double duration_;
  long units_ = 0;
  clock::time_point begin_;
  std::map<std::string, double> metrics_;

  std::uint64_t forks_ = 0; // of which the next two tell
  double own_cpu_s_ = 0;

  std::atomic<unsigned> begun_{0};
  reading all_at_work_;
  sem_t all_have_begun_{};
  bool burst_is_right_ = true;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "idle", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned workers) {
        return std::make_unique<bench::idle>(in, workers);
      }};
  return bench::run_program(what, argc, argv);
}
