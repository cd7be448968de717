// SPDX-License-Identifier: MIT
// What the scheduler's single steps take with any number of workers, as one JSON line of samples.
//
// usage: steps [--workers N] [--samples N]
//        steps --cpus
//
// It needs nothing but Nopal, so that it can be linked statically and run on any machine
// (script/scaling). Samples are in nanoseconds. `fork`: a fork and join that no thread steals, less
// a call; with one worker alone. The others need two workers or more. `steal`: from a fork to the
// start of its continuation on a worker that searches. `wake`: the same when all other workers
// sleep. `wake_all`: from then until every worker has started a piece. `sleep`: from the end of
// parallel work until all other workers sleep, as the kernel sees them. All but `fork` contain a
// reading of the clock. --cpus prints how many workers Nopal would start here.
#include <dirent.h>
#include <fcntl.h>
#include <nopal/fork.h>
#include <nopal/loop.h>
#include <nopal/runtime.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using samples = std::vector<double>;

constexpr unsigned workers_max = 1024;
constexpr unsigned samples_max = 10'000;
constexpr int forks_per_sample = 10'000;
// A step that takes long, as with more workers than CPUs, has fewer samples than asked for.
constexpr auto longest = std::chrono::seconds(1);

double ns(clock_type::duration time) {
  return std::chrono::duration<double, std::nano>(time).count();
}

[[gnu::noinline]] long leaf(long n) {
  asm volatile("" : "+r"(n));
  return n;
}

[[gnu::noinline]] long fork_once() {
  nopal::scope s;
  long x = 0;
  s.fork(x, leaf, 1L);
  s.join();
  return x;
}

// Runs f as a strand like any other; forks of a foreign thread's outermost scope cost more.
template <class F> void inside(F f) {
  nopal::scope s;
  s.fork([&f] { f(); });
  s.join();
}

// Calls `sample` until there are enough samples, or for as long as a step may take.
template <class F> samples collect(unsigned count, F sample) {
  samples taken;
  const auto until = clock_type::now() + longest;
  while (taken.size() < count && (taken.empty() || clock_type::now() < until)) {
    taken.push_back(sample());
  }
  return taken;
}

double batch(long (*step)()) {
  const auto from = clock_type::now();
  for (int i = 0; i < forks_per_sample; ++i) {
    step();
  }
  return ns(clock_type::now() - from) / forks_per_sample;
}

double fork_and_join() {
  return batch(fork_once) - batch([] { return leaf(1); });
}

// From a fork to its continuation on another worker; meanwhile the child forks on and on.
double steal() {
  std::atomic<bool> stolen = false;
  const auto from = clock_type::now();
  nopal::scope s;
  s.fork([&stolen] {
    while (!stolen) {
      fork_once();
    }
  });
  const auto to = clock_type::now();
  stolen = true;
  s.join();
  return ns(to - from);
}

// One thread's state as the kernel sees it, after its name in parentheses.
bool sleeps(const char* task) {
  char text[512];
  const std::string path = std::string("/proc/self/task/") + task + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const ssize_t length = read(file, text, sizeof text);
  close(file);
  const std::string_view line(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string_view::npos && line.substr(name_end, 3) == ") S";
}

bool others_sleep() {
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) {
    std::fprintf(
        stderr, "steps: /proc/self/task cannot be read, so the threads that sleep are not known\n");
    std::exit(1);
  }
  const std::string self = std::to_string(gettid());
  bool all = true;
  while (const dirent* const entry = readdir(tasks)) {
    if (entry->d_name[0] != '.' && entry->d_name != self && !sleeps(entry->d_name)) {
      all = false;
      break;
    }
  }
  closedir(tasks);
  return all;
}

void wait_until_others_sleep() {
  while (!others_sleep()) {
  }
}

// From the first fork until each of the workers is in a piece of its own.
double wake_all(unsigned workers) {
  std::atomic<unsigned> missing = workers;
  std::atomic<clock_type::rep> to = 0;
  const auto from = clock_type::now();
  nopal::for_index(
      0U, workers,
      [&](unsigned) {
        if (missing.fetch_sub(1) == 1)
          to = clock_type::now().time_since_epoch().count();
        while (missing != 0) {
          fork_once();
        }
      },
      1);
  return ns(clock_type::duration(to) - from.time_since_epoch());
}

void print_step(const char* name, const samples& taken) {
  std::printf(",\"%s\":[", name);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    std::printf(i == 0 ? "%.1f" : ",%.1f", taken[i]);
  }
  std::printf("]");
}

void measure(unsigned workers, unsigned count) {
  std::printf("{\"workers\":%u", workers);
  if (workers == 1) {
    inside([&] { print_step("fork", collect(count, fork_and_join)); });
  } else {
    inside([&] { print_step("steal", collect(count, steal)); });
    inside([&] {
      print_step("wake", collect(count, [] {
                   wait_until_others_sleep();
                   return steal();
                 }));
    });
    samples asleep;
    const samples awake = collect(count, [&] {
      wait_until_others_sleep();
      double time = 0;
      inside([&] { time = wake_all(workers); });
      const auto from = clock_type::now();
      wait_until_others_sleep();
      asleep.push_back(ns(clock_type::now() - from));
      return time;
    });
    print_step("wake_all", awake);
    print_step("sleep", asleep);
  }
  std::printf("}\n");
}

// The number behind an option; ends the program if it is none, or out of range.
unsigned number_of(const char* option, const char* text, unsigned most) {
  unsigned value = 0;
  const char* const end = text == nullptr ? nullptr : text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (text == nullptr || error != std::errc() || stop != end || value < 1 || value > most) {
    std::fprintf(stderr, "steps: %s needs a number from 1 to %u, not '%s'\n", option, most,
                 text == nullptr ? "" : text);
    std::exit(2);
  }
  return value;
}

} // namespace

int main(int argc, char** argv) {
  unsigned workers = 1;
  unsigned count = 100;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    const char* const next = i + 1 < argc ? argv[i + 1] : nullptr;
    if (option == "--cpus" && argc == 2) {
      std::printf("%u\n", nopal::num_workers());
      return 0;
    }
    if (option == "--workers") {
      workers = number_of("--workers", next, workers_max);
    } else if (option == "--samples") {
      count = number_of("--samples", next, samples_max);
    } else {
      std::fprintf(stderr,
                   "steps: '%s' is not known; accepted are --workers N, --samples N, and --cpus "
                   "alone\n",
                   argv[i]);
      return 2;
    }
  }
  nopal::options asked;
  asked.num_workers = workers;
  nopal::configure(asked);
  measure(workers, count);
  return 0;
}
