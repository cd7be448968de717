// SPDX-License-Identifier: MIT
// What giving stack pages back costs the thread that calls, and the threads beside it: the question
// of fibril-spaa16, section 4.3 (madvise or mmap), and of nowa-ipdps21, section V-B.
//
// usage: unmapping [CALLS]
//
// It prints one JSON line. For 1, 2, 4, ... threads, as many as there are CPUs, three cases:
//
//   beside    one thread gives two pages back by madvise again and again, the others compute
//   madvise   all give two pages back, each of its own
//   mmap      likewise, by mapping new memory over them
//
// `ns` is the median call's time, without the touches that bring the pages; `interrupts` are
// those of the kernel's TLB shootdowns for one call; `lost_ns` is how much longer each thread that
// computes takes, for one call.
#include "bench/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::size_t pages = 2;
const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "unmapping: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

enum class how { madvise, mmap };

// Pages between two that are never mapped, so that neighbours share no mapping.
class own_pages {
public:
  own_pages() {
    void* const at = mmap(nullptr, (pages + 2) * page, PROT_NONE, flags, -1, 0);
    if (at == MAP_FAILED)
      refuse("mmap");
    at_ = static_cast<char*>(at) + page;
    give_back(how::mmap);
  }
  void touch() {
    for (std::size_t i = 0; i < pages; ++i)
      static_cast<volatile char*>(at_)[i * page] = 1;
  }
  void give_back(how call) {
    if (call == how::madvise
            ? madvise(at_, pages * page, MADV_DONTNEED) != 0
            : mmap(at_, pages * page, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) != at_)
      refuse(call == how::madvise ? "madvise" : "mmap");
  }

private:
  static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char* at_;
};

double ns_since(clock_type::time_point from) {
  return std::chrono::duration<double, std::nano>(clock_type::now() - from).count();
}

// Each call's nanoseconds.
std::vector<double> give_back(long calls, how call) {
  own_pages own;
  std::vector<double> ns;
  ns.reserve(static_cast<std::size_t>(calls));
  for (long i = 0; i < calls; ++i) {
    own.touch();
    const auto from = clock_type::now();
    own.give_back(call);
    ns.push_back(ns_since(from));
  }
  return ns;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// TLB shootdowns that the machine's CPUs have received; 0 where the kernel does not tell.
double tlb_interrupts() {
  std::ifstream file("/proc/interrupts");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    double sum = 0;
    for (double count = 0; name == "TLB:" && words >> count;)
      sum += count;
    if (name == "TLB:")
      return sum;
  }
  return 0;
}

struct cost {
  double ns = 0;
  double interrupts = 0;
  double lost_ns = 0;
};

// Threads that compute until they are told to stop.
class computing {
public:
  explicit computing(unsigned count) : units_(count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([this, i] {
        while (!stop_.load(std::memory_order_relaxed))
          units_[i].done.fetch_add(bench::spinning::units(64), std::memory_order_relaxed);
      });
  }
  ~computing() {
    stop_.store(true);
    for (std::thread& each : threads_)
      each.join();
  }
  double units() const {
    double sum = 0;
    for (const line& each : units_)
      sum += static_cast<double>(each.done.load(std::memory_order_relaxed));
    return sum;
  }

private:
  struct alignas(64) line {
    std::atomic<long> done{0};
  };
  std::vector<line> units_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// Phases with calls and without alternate, so that drifts of the machine affect both alike.
cost beside(unsigned threads, long calls) {
  constexpr long phases = 20;
  const computing others{threads - 1};
  cost sum;
  std::vector<double> medians;
  double slow_ns = 0, slow_units = 0, fast_ns = 0, fast_units = 0;
  for (long phase = 0; phase < phases; ++phase) {
    const double interrupts = tlb_interrupts();
    double units = others.units();
    auto from = clock_type::now();
    medians.push_back(median(give_back(calls / phases, how::madvise)));
    const double took = ns_since(from);
    slow_ns += took;
    slow_units += others.units() - units;
    sum.interrupts += tlb_interrupts() - interrupts;
    units = others.units();
    from = clock_type::now();
    while (ns_since(from) < took) {
    }
    fast_ns += ns_since(from);
    fast_units += others.units() - units;
  }
  const auto made = static_cast<double>(calls / phases * phases);
  if (threads > 1)
    sum.lost_ns = (1 - slow_units / slow_ns / (fast_units / fast_ns)) * slow_ns / made;
  return {median(medians), sum.interrupts / made, sum.lost_ns};
}

cost together(unsigned threads, long calls, how call) {
  std::vector<double> medians(threads);
  std::vector<std::thread> all;
  const double interrupts = tlb_interrupts();
  std::atomic<unsigned> begun{0};
  for (unsigned i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      begun.fetch_add(1);
      while (begun.load() != threads) {
      }
      medians[i] = median(give_back(calls, call));
    });
  for (std::thread& each : all)
    each.join();
  const double made = static_cast<double>(calls) * threads;
  return {median(medians), (tlb_interrupts() - interrupts) / made, 0};
}

void print(const char* what, unsigned threads, const cost& c, bool last = false) {
  std::printf("{\"case\": \"%s\", \"threads\": %u, \"ns\": %.1f, \"interrupts\": %.3f, "
              "\"lost_ns\": %.1f}%s",
              what, threads, c.ns, c.interrupts, c.lost_ns, last ? "" : ", ");
}

} // namespace

int main(int argc, char** argv) {
  const long calls = argc > 1 ? std::atol(argv[1]) : 100'000;
  if (calls < 20 || argc > 2) {
    std::fprintf(stderr, "unmapping: accepted is one number of calls, from 20\n");
    return 2;
  }
  const unsigned cpus = std::thread::hardware_concurrency();
  std::printf("{\"cases\": [");
  for (unsigned threads = 1; threads <= cpus; threads *= 2) {
    print("beside", threads, beside(threads, calls));
    print("madvise", threads, together(threads, calls, how::madvise));
    print("mmap", threads, together(threads, calls, how::mmap), 2 * threads > cpus);
  }
  std::printf("]}\n");
}
