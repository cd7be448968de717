// SPDX-License-Identifier: MIT
// Nopal on workers that are processes, each with one linear stack: the library that programs are
// linked with makes them so. This tells besides how often views changed, and in how many calls, and
// what the heap has grown by.
#pragma once

#include <nopal/mapped/memory.h>
#include <nopal/stack/view.h>

#include "bench/backend/nopal_forks.h"
#include "bench/backend/nopal_runtime.h"
#include "bench/grown_heap.h"

#include <sys/stat.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>

#define BENCH_TASK static

namespace bench {

class runtime : public nopal_runtime {
public:
  explicit runtime(unsigned workers) : nopal_runtime(workers), workers_(workers) {}
  template <class F> void run(F f) {
    if (!std::exchange(begun_, true))
      begin_all();
    f();
  }
  counters read_counters() const {
    const counters known = nopal_runtime::read_counters();
    heap_.note(all_pages(), *known.stack_pages);
    return known;
  }

  // All since the program began, of all processes.
  std::map<std::string, double> metrics() const {
    const auto views = nopal::stack::view::counted();
    const auto all = nopal::stats();
    return {{"view_shows", static_cast<double>(views.shows)},
            {"view_maps", static_cast<double>(views.maps)},
            {"view_calls", static_cast<double>(views.maps + all.unmaps + all.page_counts)},
            {"view_steals", static_cast<double>(all.steals)},
            {"heap_pages", heap_.pages()}};
  }

private:
  // Each worker runs a strand: a process takes longer to begin than a thread does, and memory.
  void begin_all() const {
    std::atomic<unsigned> arrived = 0;
    const auto arrive = [this, &arrived] {
      for (arrived += 1; arrived < workers_;)
        std::this_thread::yield();
    };
    nopal::scope s;
    for (unsigned i = 1; i < workers_; ++i)
      s.fork(arrive);
    arrive();
    s.join();
  }
  // Of the file behind all shared memory, stacks too. Each process has a few of its own
  // besides, from its start.
  static std::uint64_t all_pages() {
    struct stat file{};
    return fstat(nopal::mapped::memory_file, &file) == 0
               ? static_cast<std::uint64_t>(file.st_blocks) / 8
               : anonymous_pages();
  }

  unsigned workers_;
  bool begun_ = false;
  mutable grown_heap heap_;
};

} // namespace bench
