// SPDX-License-Identifier: MIT
// Nopal on workers that are processes, each with one linear stack: the library that programs are
// linked with makes them so. This tells besides how often views changed, and in how many calls, and
// what the heap has grown by.
#pragma once

#include <nopal/mapped/members.h>
#include <nopal/mapped/memory.h>
#include <nopal/stack/view.h>

#include "bench/backend/nopal_forks.h"
#include "bench/backend/nopal_runtime.h"
#include "bench/grown_heap.h"

#include <sys/stat.h>

#include <map>
#include <string>
#include <thread>

#define BENCH_TASK static

namespace bench {

class runtime : public nopal_runtime {
public:
  explicit runtime(unsigned workers) : nopal_runtime(workers), workers_(workers) {}
  // Warms up: returns when each worker is a process.
  template <class F> void run(F f) {
    f();
    const auto& processes = nopal::mapped::members_used;
    while (nopal::stack::view::on() && processes.load(nopal::base::relaxed) < workers_)
      std::this_thread::yield();
    heap_.begin(all_pages(), nopal::stats().stack_pages);
  }

  // All since the program began, of all processes.
  std::map<std::string, double> told() const {
    const auto views = nopal::stack::view::counted();
    return {{"view_shows", static_cast<double>(views.shows)},
            {"view_maps", static_cast<double>(views.maps)},
            {"view_steals", static_cast<double>(nopal::stats().steals)},
            {"heap_pages", heap_.pages(all_pages(), nopal::stats().stack_pages)}};
  }

private:
  // Of the file behind all shared memory, stacks too. Each process has a few of its own
  // besides, from its start.
  static std::uint64_t all_pages() {
    struct stat file{};
    return fstat(nopal::mapped::memory_file, &file) == 0
               ? static_cast<std::uint64_t>(file.st_blocks) / 8
               : anonymous_pages();
  }

  unsigned workers_;
  grown_heap heap_;
};

} // namespace bench
