// SPDX-License-Identifier: MIT
// What it takes to stop work, in five cases that --n chooses:
//
//   1  fib(29): `serial`, `plain`, in a cancel scope (`inside`), with a cancel scope for each call
//      (`each`), in seconds
//   2  a search of 20 queens by nested alternatives, without an end, is cancelled again and again:
//      the time of `cancel` in microseconds (`p50_us`, `p99_us`, `most_us`), and how many forks
//      were open at the time (`open`)
//   3  a loop that looks for one number, in an unknown place: `first_us` until it is found, and
//      `all_us` until the loop has returned
//   4  a tree of tasks, four below each and 64 steps of arithmetic in a leaf, of which one has the
//      answer: the same two
//   5  a tree of 2^20 leaves of which the `first` throws, or the `last`: seconds until the
//      exception arrives
//
// The cases 3 and 4 are there for oneTBB and OpenMP too, 5 for oneTBB.
#include "bench/cancelling_runtimes.h"
#include "bench/harness.h"
#include "bench/random.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {
namespace {

double quantile(std::vector<double> all, double part) {
  std::sort(all.begin(), all.end());
  return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
}

struct amounts {
  int times; // of cases 2 to 5
  long items;
  int leaves_log;
  int fib;
  int tree_levels;
};
constexpr amounts amounts_of(size s) {
  return s == size::test    ? amounts{3, 100'000, 10, 18, 4}
         : s == size::quick ? amounts{200, 1'000'000, 20, 29, 7}
                            : amounts{1000, 10'000'000, 20, 29, 8};
}

class cancelling final : public experiment {
public:
  cancelling(const input& in, unsigned workers)
      : which_{in.n.value_or(3)}, much_{amounts_of(in.chosen)}, runtime_{workers} {
    const bool known = which_ >= 1 && which_ <= own_runtime::last_case;
#if defined(BENCH_NOPAL)
    const bool ours = true;
#else
    const bool ours = which_ >= 3;
#endif
    if (!known || !ours)
      throw std::invalid_argument("--n " + std::to_string(which_) +
                                  " is not known here; accepted are 1 (fib), 2 (cancel), 3 (loop), "
                                  "4 (tree), 5 (throw), the first two for Nopal alone, the last "
                                  "not for OpenMP");
  }

  long n() const override { return which_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {}
  void warm_up() override {
    first_answer answer;
    runtime_.run([&] { runtime_.find(1000, answer, [](long) { return false; }); });
  }
  void compute() override {
    switch (which_) {
#if defined(BENCH_NOPAL)
    case 1:
      return fibs();
    case 2:
      return cancels();
#endif
    case 3:
      return loops();
    case 4:
      return trees();
    default:
      return throws();
    }
  }
  bool verify() override { return right_; }
  counters read_counters() const override { return runtime_.read_counters(); }
  std::map<std::string, double> told() const override { return told_; }

private:
#if defined(BENCH_NOPAL)
  [[gnu::noinline]] static long serial_fib(int n) {
    return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
  }
  [[gnu::noinline]] static long fib(int n) {
    if (n < 2)
      return n;
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, n - 1);
    const long y = fib(n - 2);
    s.join();
    return x + y;
  }
  [[gnu::noinline]] static long fib_each(int n) {
    if (n < 2)
      return n;
    nopal::cancel_scope s;
    long x = 0;
    s.fork(x, fib_each, n - 1);
    const long y = fib_each(n - 2);
    s.join();
    return x + y;
  }

  template <class F> void time_as(const char* name, F f) {
    const auto begin = clock::now();
    const long computed = f();
    const double took = since_s(begin);
    right_ = right_ && computed == serial_fib(much_.fib);
    double& least = told_.try_emplace(name, took).first->second;
    least = std::min(least, took);
  }
  // The four in turn, so that the machine's drifts meet all alike; the least of each.
  void fibs() {
    for (int round = 0; round < 9; ++round)
      nopal::run([&] {
        time_as("serial", [&] { return serial_fib(much_.fib); });
        time_as("plain", [&] { return fib(much_.fib); });
        time_as("inside", [&] {
          nopal::cancel_scope region;
          long result = 0;
          region.fork(result, fib, much_.fib);
          region.join();
          return result;
        });
        time_as("each", [&] { return fib_each(much_.fib); });
      });
  }

  // A board of `queens`, by bits: which columns and diagonals are taken.
  struct board {
    static constexpr int queens = 20;
    static constexpr unsigned all = (1u << queens) - 1;

    int row = 0;
    unsigned columns = 0;
    unsigned left = 0;
    unsigned right = 0;

    unsigned free() const { return all & ~(columns | left | right); }
    board with(unsigned bit) const {
      return {row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1};
    }
  };

  // Alternatives for the columns of a row, halved; a solution counts as failed, so that it goes on.
  // Forks that were not ended when it was cancelled are those begun less those ended.
  struct forks_seen {
    std::atomic<long> begun{0};
    std::atomic<long> ended{0};

    long open() const {
      const long now_ended = ended.load(std::memory_order_relaxed);
      return begun.load(std::memory_order_relaxed) - now_ended;
    }
  };
  static std::optional<board> search(board b, unsigned among, forks_seen& seen) {
    if (b.row == board::queens || among == 0)
      return std::nullopt;
    if ((among & (among - 1)) == 0) {
      const board next = b.with(among);
      return search(next, next.free(), seen);
    }
    unsigned some = 0; // the lower half of the bits
    unsigned rest = among;
    for (int half = __builtin_popcount(among) / 2; half > 0; --half, rest &= rest - 1)
      some |= rest & -rest;
    seen.begun.fetch_add(1, std::memory_order_relaxed);
    auto found = nopal::either([=, &seen] { return search(b, some, seen); },
                               [=, &seen] { return search(b, rest, seen); });
    seen.ended.fetch_add(1, std::memory_order_relaxed);
    return found;
  }
  void cancels() {
    std::vector<double> took;
    std::vector<double> were_open;
    random_numbers numbers{7};
    // With one vproc the search runs until the timer comes, which takes a tenth of a second.
    const int times = nopal::num_workers() == 1 ? much_.times / 10 + 1 : much_.times * 5;
    for (int i = 0; i < times; ++i) {
      forks_seen seen;
      nopal::cancelable searching;
      nopal::run([&] {
        nopal::spawn(searching, [&] { search(board{}, board::all, seen); });
        while (seen.begun == 0)
          if (nopal::num_workers() == 1)
            nopal::yield();
        const double run_us = 200.0 + static_cast<double>(numbers.next() % 600);
        const auto begin = clock::now();
        while (us_between(begin, clock::now()) < run_us) {
        }
        were_open.push_back(static_cast<double>(seen.open()));
        const auto cancel = clock::now();
        searching.cancel();
        took.push_back(us_between(cancel, clock::now()));
        const long begun = seen.begun;
        nopal::yield();
        right_ = right_ && begun == seen.begun;
      });
    }
    told_["p50_us"] = quantile(took, 0.5);
    told_["p90_us"] = quantile(took, 0.9);
    told_["p99_us"] = quantile(took, 0.99);
    told_["most_us"] = quantile(took, 1);
    told_["open"] = quantile(were_open, 0.5);
  }
#endif

  // `search` is given where to note the answer.
  template <class Search> void times_of(Search search) {
    std::vector<double> first;
    std::vector<double> all;
    runtime_.run([&] {
      for (int i = 0; i < much_.times; ++i) {
        first_answer answer;
        const auto begin = clock::now();
        search(answer);
        const auto end = clock::now();
        right_ = right_ && answer.claimed;
        first.push_back(us_between(begin, answer.at));
        all.push_back(us_between(begin, end));
      }
    });
    told_["first_us"] = quantile(first, 0.5);
    told_["all_us"] = quantile(all, 0.5);
    told_["all_p99_us"] = quantile(all, 0.99);
  }
  void loops() {
    random_numbers places{11};
    times_of([&](first_answer& answer) {
      const std::uint64_t sought = mixed(places.next() % static_cast<std::uint64_t>(much_.items));
      runtime_.find(much_.items, answer, [&](long i) {
        return mixed(static_cast<std::uint64_t>(i)) == sought && answer.claim();
      });
    });
  }
  void trees() {
    random_numbers places{13};
    times_of([&](first_answer& answer) {
      tree t{much_.tree_levels, 0, &answer};
      t.sought = t.value_of(places.next() % t.leaves());
      runtime_.find(t);
    });
  }

#if defined(BENCH_NOPAL) || defined(BENCH_TBB)
  struct thrown {};
  static void throw_at(long first, long count, long throws) {
    if (count == 1) {
      if (first == throws)
        throw thrown{};
      return;
    }
    const long half = count / 2;
    own_runtime::both([=] { throw_at(first, half, throws); },
                      [=] { throw_at(first + half, count - half, throws); });
  }
  void throws() {
    const long leaves = 1L << much_.leaves_log;
    for (const auto& [name, leaf] : {std::pair{"first", 0L}, std::pair{"last", leaves - 1}}) {
      std::vector<double> took;
      for (int i = 0; i < std::max(3, much_.times / 20); ++i)
        runtime_.run([&] {
          const auto begin = clock::now();
          bool caught = false;
          try {
            throw_at(0, leaves, leaf);
          } catch (const thrown&) {
            caught = true;
          }
          took.push_back(since_s(begin));
          right_ = right_ && caught;
        });
      told_[name] = quantile(took, 0.5);
    }
  }
#else
  void throws() { right_ = false; }
#endif

  const long which_;
  const amounts much_;
  own_runtime runtime_;
  bool right_ = true;
  std::map<std::string, double> told_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "cancelling", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned workers) {
        return std::make_unique<bench::cancelling>(in, workers);
      }};
  return bench::run_program(what, argc, argv);
}
