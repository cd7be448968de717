// SPDX-License-Identifier: MIT
// Measures what it takes to stop work, in six cases that --n chooses:
//
//   1  fib(29): `serial`, `plain`, in a cancel scope (`inside`), with a cancel scope for each call
//      (`each`), in seconds
//   2  20 queens by nested alternatives, cancelled again and again: how long `cancel` takes, in
//      microseconds (`p50_us`, `p99_us`, `most_us`, ...), how many `strands` had to stop and how
//      many `forks` were open, and the time of `cancel` divided by each of these
//   3  the same search, which finds an answer after a while: the same numbers, from the answer
//      until the search has returned
//   4  a loop that looks for one number, in an unknown place: `first_us` until it is found, and
//      `all_us` until the loop has returned
//   5  a tree of tasks, four below each and 64 steps of arithmetic in a leaf, of which one has the
//      answer: `first_us` and `all_us` again
//   6  a tree of 2^20 leaves of which the `first` throws, or the `last`: seconds until the
//      exception arrives
//
// The cases 4 and 5 are there for oneTBB and OpenMP too, 6 for oneTBB.
#if defined(BENCH_NOPAL)
#include "bench/cancelling_queens.h"
#endif
#include "bench/cancelling_runtimes.h"
#include "bench/harness.h"
#include "bench/random.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

double quantile(std::vector<double> all, double part) {
  std::sort(all.begin(), all.end());
  return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
}

struct amounts {
  int times; // of cases 2 to 6
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
      : which_{in.n.value_or(4)}, much_{amounts_of(in.chosen)}, runtime_{workers} {
    const bool known = which_ >= 1 && which_ <= own_runtime::last_case;
#if defined(BENCH_NOPAL)
    const bool ours = true;
#else
    const bool ours = which_ >= 4;
#endif
    if (!known || !ours)
      throw std::invalid_argument(
          "--n " + std::to_string(which_) +
          " is not known here; accepted are 1 (fib), 2 (cancel), 3 (answer), 4 (loop), 5 (tree) "
          "and 6 (throw), the first three for Nopal alone, the last not for OpenMP");
  }

  long n() const override { return which_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {}
  void warm_up() override {
    const auto until = clock::now() + std::chrono::milliseconds{10}; // so that all threads come
    while (clock::now() < until) {
      first_answer answer;
      runtime_.run([&] { runtime_.find(numbers{1000, numbers::at(1000), &answer}); });
    }
  }
  void compute() override {
    switch (which_) {
#if defined(BENCH_NOPAL)
    case 1:
      return fibs();
    case 2:
      return cancels();
    case 3:
      return answers();
#endif
    case 4:
      return loops();
    case 5:
      return trees();
    default:
      return throws();
    }
  }
  bool verify() override { return right_; }
  counters read_counters() const override { return runtime_.read_counters(); }
  std::map<std::string, double> metrics() const override { return metrics_; }

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
    double& least = metrics_.try_emplace(name, took).first->second;
    least = std::min(least, took);
  }
  // Runs the four in turn, so that the machine's drifts meet all alike, and takes the least time of
  // each.
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

  // How long each search took to stop, in microseconds, and how much there was to stop.
  class stops {
  public:
    void add(double us, const queens& search) {
      us_.push_back(us);
      strands_.push_back(static_cast<double>(search.stopped_strands()));
      forks_.push_back(static_cast<double>(search.open_forks()));
    }
    std::map<std::string, double> metrics() const {
      std::map<std::string, double> all{{"strands", quantile(strands_, 0.5)},
                                        { "forks",
                                          quantile(forks_, 0.5) }};
      for (const auto& [name, part] :
           {std::pair{"p10_us", 0.1}, std::pair{"p50_us", 0.5}, std::pair{"p90_us", 0.9},
            std::pair{"p99_us", 0.99}, std::pair{"most_us", 1.0}})
        all[name] = quantile(us_, part);
      if (all["strands"] > 0) // the strands of an answer all end
        all["us_per_strand"] = quantile(each(strands_), 0.5);
      all["us_per_fork"] = quantile(each(forks_), 0.5);
      return all;
    }

  private:
    std::vector<double> each(const std::vector<double>& counts) const {
      std::vector<double> quotients;
      for (std::size_t i = 0; i < us_.size(); ++i)
        quotients.push_back(us_[i] / std::max(1.0, counts[i]));
      return quotients;
    }

    std::vector<double> us_;
    std::vector<double> strands_;
    std::vector<double> forks_;
  };

  // How long a search may go on: 200 to 800 us.
  auto some_time() { return std::chrono::microseconds{200 + numbers_.next() % 600}; }

  // The strand that cancels keeps one vproc; the search has the others. With one vproc the two take
  // turns, and the turn of the first comes back after a tenth of a second.
  void cancels() {
    const bool alone = nopal::num_workers() == 1;
    const int times = alone ? much_.times / 10 + 1 : much_.times * 5;
    stops all;
    for (int i = 0; i < times; ++i) {
      queens board;
      nopal::cancelable searching;
      nopal::run([&] {
        nopal::spawn(searching, [&] { board.search(); });
        while (board.begun() == 0)
          if (alone)
            nopal::yield();
        const auto until = clock::now() + some_time();
        while (clock::now() < until) {
        }
        const auto cancel = clock::now();
        searching.cancel();
        all.add(us_between(cancel, clock::now()), board);
        const long begun = board.begun();
        nopal::yield();
        right_ = right_ && begun == board.begun();
      });
    }
    metrics_ = all.metrics();
  }
  // Measures from the answer until the outermost `either` returns.
  void answers() {
    stops all;
    for (int i = 0; i < much_.times * 5; ++i)
      nopal::run([&] {
        queens board{clock::now() + some_time()};
        right_ = right_ && board.search();
        all.add(us_between(board.answered(), clock::now()), board);
      });
    metrics_ = all.metrics();
  }
#endif

  // `search` is given the first_answer in which it notes the answer.
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
    metrics_["first_us"] = quantile(first, 0.5);
    metrics_["all_us"] = quantile(all, 0.5);
    metrics_["all_p99_us"] = quantile(all, 0.99);
  }
  void loops() {
    random_numbers places{11};
    times_of([&](first_answer& answer) {
      const auto place = static_cast<long>(places.next() % static_cast<unsigned>(much_.items));
      runtime_.find(numbers{much_.items, numbers::at(place), &answer});
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
      const int times = leaf == 0 ? much_.times : std::max(3, much_.times / 20);
      for (int i = 0; i < times; ++i)
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
      metrics_[name] = quantile(took, 0.5);
    }
  }
#else
  void throws() { right_ = false; }
#endif

  const long which_;
  const amounts much_;
  own_runtime runtime_;
  random_numbers numbers_{7};
  bool right_ = true;
  std::map<std::string, double> metrics_;
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
