// SPDX-License-Identifier: MIT
// Measures Nopal's single steps: a fork and join that no thread steals, also in an exception
// handler; an affine region, a call of nopal::blocking; a steal, a contended join, a wake-up.
//
// usage: fork_cost [--workers N] [options of Google Benchmark]
//
// The last three need two workers, the others one, and a process has one number of workers; without
// --workers the program runs itself once for each number. The times of the last three are between
// two readings of the clock, which is part of them (`clock` says how much). `steals`, `suspensions`
// and `wakeups` are per iteration: they show that the step happened.
#include <benchmark/benchmark.h>
#include <nopal/affine.h>
#include <nopal/blocking.h>
#include <nopal/fork.h>
#include <nopal/loop.h>
#include <nopal/runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

extern "C" {
long leaf(long n);
long fork_once_in_c(); // fork_cost_c.c
long fork_many_in_c(int count);
long fib_in_c(int n);
}

[[gnu::noinline]] long leaf(long n) {
  asm volatile("" : "+r"(n));
  return n;
}

namespace {

using clock_type = std::chrono::steady_clock;

void call(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(leaf(1));
  }
}

[[gnu::noinline]] long fork_once() {
  nopal::scope s;
  long x = 0;
  s.fork(x, leaf, 1L);
  s.join();
  return x;
}

template <long (*once)()> void fork_and_join_loop(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(once());
  }
}

[[gnu::noinline]] long fork_many(int count) {
  nopal::scope s;
  long x = 0;
  for (int i = 0; i < count; ++i) {
    s.fork(x, leaf, 1L);
  }
  s.join();
  return x;
}

constexpr int forks_per_join = 1000;

template <long (*many)(int)> void forks_under_one_join_loop(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(many(forks_per_join));
  }
  state.counters["per_fork"] = benchmark::Counter(
      forks_per_join, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void fork_and_join_in_a_handler_loop(benchmark::State& state) {
  try {
    throw 1;
  } catch (int) {
    fork_and_join_loop<fork_once>(state);
  }
}

void affine_region_loop(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(nopal::affine([] { return leaf(1); }));
  }
}

// With a spare worker that rests already.
void blocking_loop(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(nopal::blocking([] { return leaf(1); }));
  }
}

void clock_reading(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(clock_type::now());
  }
}

// What all workers count between construction and report(), for each iteration.
class counted {
public:
  explicit counted(benchmark::State& state) : state_(state), before_(nopal::stats()) {}

  void report() {
    const nopal::statistics after = nopal::stats();
    const auto rate = [&](std::uint64_t now, std::uint64_t then) {
      return benchmark::Counter(static_cast<double>(now - then),
                                benchmark::Counter::kAvgIterations);
    };
    state_.counters["steals"] = rate(after.steals, before_.steals);
    state_.counters["suspensions"] = rate(after.suspensions, before_.suspensions);
    state_.counters["wakeups"] = rate(after.wakeups, before_.wakeups);
  }

private:
  benchmark::State& state_;
  nopal::statistics before_;
};

// Runs f as a strand like any other. A thread that Nopal did not start pays more for the forks of
// its outermost scope, which `from_a_foreign_thread` measures.
template <class F> void inside(F f) {
  nopal::scope s;
  s.fork([&f] { f(); });
  s.join();
}

// A thief takes the continuation while the child forks on and on, as a busy worker does.
clock_type::duration steal_from_forking() {
  std::atomic<bool> stolen = false;
  const auto from = clock_type::now();
  clock_type::time_point to;
  nopal::scope s;
  s.fork([&stolen] {
    while (!stolen) {
      fork_once();
    }
  });
  to = clock_type::now();
  stolen = true;
  s.join();
  return to - from;
}

// The same when the child never forks, so that the thief gets no help.
clock_type::duration steal_from_silent() {
  std::atomic<bool> stolen = false;
  const auto from = clock_type::now();
  clock_type::time_point to;
  nopal::scope s;
  s.fork([&stolen] {
    while (!stolen) {
    }
  });
  to = clock_type::now();
  stolen = true;
  s.join();
  return to - from;
}

// From the end of the last child until its parent, which waits in the join, has passed it.
clock_type::duration join_contended() {
  std::atomic<bool> stolen = false;
  clock_type::time_point from;
  const std::uint64_t suspensions = nopal::stats().suspensions;
  nopal::scope s;
  s.fork([&] {
    while (!stolen || nopal::stats().suspensions == suspensions) {
    }
    from = clock_type::now();
  });
  stolen = true;
  s.join();
  return clock_type::now() - from;
}

template <clock_type::duration (*step)()> void with_two_workers(benchmark::State& state) {
  inside([&state] {
    counted counters(state);
    for (auto _ : state) {
      state.SetIterationTime(std::chrono::duration<double>(step()).count());
    }
    counters.report();
  });
}

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

template <long (*Fib)(int)> void fib_loop(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Fib(20));
  }
}

// 64 pieces of unequal work, each parallel in itself, some 30 to 1000 us: measures the cost of a
// thread that is in an affine region and so helps no other piece.
template <bool Affine> void unequal_regions(benchmark::State& state) {
  inside([&state] {
    counted counters(state);
    for (auto _ : state) {
      nopal::for_index(
          0, 64,
          [](int i) {
            const int n = 18 + i % 8;
            if (Affine)
              benchmark::DoNotOptimize(nopal::affine([n] { return fib(n); }));
            else
              benchmark::DoNotOptimize(fib(n));
          },
          1);
    }
    counters.report();
  });
}

// Returns whether all threads of this process but the calling one sleep, as the kernel sees it.
bool others_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) {
      continue;
    }
    std::ifstream stat(task.path() / "stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos || line.compare(name_end, 3, ") S") != 0) {
      return false;
    }
  }
  return true;
}

// From a fork to the start of its continuation on a worker that was asleep.
clock_type::duration wake_up() {
  while (!others_sleep()) {
  }
  return steal_from_forking();
}

void register_for(unsigned workers) {
  benchmark::RegisterBenchmark("clock", clock_reading);
  if (workers == 1) {
    const auto inside_of = [](void (*loop)(benchmark::State&)) {
      return [loop](benchmark::State& state) { inside([&] { loop(state); }); };
    };
    benchmark::RegisterBenchmark("call", call);
    benchmark::RegisterBenchmark("fork_and_join", inside_of(fork_and_join_loop<fork_once>));
    benchmark::RegisterBenchmark("forks_under_one_join",
                                 inside_of(forks_under_one_join_loop<fork_many>));
    benchmark::RegisterBenchmark("fib", inside_of(fib_loop<fib>));
#if defined(BENCH_IN_C)
    benchmark::RegisterBenchmark("fork_and_join/in_c",
                                 inside_of(fork_and_join_loop<fork_once_in_c>));
    benchmark::RegisterBenchmark("forks_under_one_join/in_c",
                                 inside_of(forks_under_one_join_loop<fork_many_in_c>));
    benchmark::RegisterBenchmark("fib/in_c", inside_of(fib_loop<fib_in_c>));
#endif
    benchmark::RegisterBenchmark("fork_and_join/from_a_foreign_thread",
                                 fork_and_join_loop<fork_once>);
    benchmark::RegisterBenchmark("fork_and_join/in_a_handler",
                                 inside_of(fork_and_join_in_a_handler_loop));
    benchmark::RegisterBenchmark("affine_region", inside_of(affine_region_loop));
    benchmark::RegisterBenchmark("affine_region/on_a_foreign_thread", affine_region_loop);
    benchmark::RegisterBenchmark("blocking", inside_of(blocking_loop));
    return;
  }
  const auto add = [](const char* name, void (*function)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, function)->UseManualTime()->MeasureProcessCPUTime();
  };
  add("steal/child_forks", with_two_workers<steal_from_forking>);
  add("steal/child_is_silent", with_two_workers<steal_from_silent>);
  add("contended_join", with_two_workers<join_contended>);
  benchmark::RegisterBenchmark("unequal_regions/free", unequal_regions<false>)->UseRealTime();
  benchmark::RegisterBenchmark("unequal_regions/affine", unequal_regions<true>)->UseRealTime();
  add("wake_up", with_two_workers<wake_up>);
}

int run_with(unsigned workers, int argc, char** argv) {
  nopal::options asked;
  asked.num_workers = workers;
  nopal::configure(asked);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  register_for(workers);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// Takes `--workers N` out of the arguments; nothing if it is not there, 0 if N is not accepted.
std::optional<unsigned> take_workers(int& argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--workers") != 0) {
      continue;
    }
    unsigned workers = 0;
    if (i + 1 < argc) {
      const char* const end = argv[i + 1] + std::strlen(argv[i + 1]);
      const auto [stop, error] = std::from_chars(argv[i + 1], end, workers);
      if (error != std::errc() || stop != end || workers > 2) {
        workers = 0;
      }
      std::memmove(argv + i, argv + i + 2, sizeof(char*) * static_cast<std::size_t>(argc - i - 1));
      argc -= 2;
    }
    return workers;
  }
  return std::nullopt;
}

} // namespace

int main(int argc, char** argv) {
  const std::optional<unsigned> workers = take_workers(argc, argv);
  if (workers == 0U) {
    std::fprintf(stderr, "fork_cost: --workers needs a number, and accepts 1 or 2\n");
    return 2;
  }
  if (workers) {
    return run_with(*workers, argc, argv);
  }
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--benchmark_out=", 16) == 0) {
      std::fprintf(stderr, "fork_cost: --benchmark_out needs --workers 1 or --workers 2, since "
                           "each number of workers is a run of its own\n");
      return 2;
    }
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::exit(run_with(1, argc, argv));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "fork_cost: the run with one worker failed\n");
    return 1;
  }
  return run_with(2, argc, argv);
}
