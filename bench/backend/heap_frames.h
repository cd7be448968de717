// SPDX-License-Identifier: MIT
// Frames on the heap (bench/baseline/heap_frames.h). Each function is written in clones of its own,
// in heap_frames_problems.h.
#pragma once

#include "bench/backend/elision.h"
#include "bench/baseline/heap_frames.h"
#include "bench/grown_heap.h"
#include "bench/harness.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;

  explicit runtime(unsigned workers) {
    for (unsigned i = 0; i < workers; ++i)
      workers_.emplace_back(workers_);
    for (unsigned i = 1; i < workers; ++i)
      threads_.emplace_back([this, &self = workers_[i]] {
        std::free(std::malloc(1)); // the C library's pages for a thread are of its start
        self.stack.run([this, &self] { self.work([this] { return ends_.load(); }); });
      });
    first = &workers_.front();
  }
  ~runtime() {
    ends_ = true;
    for (std::thread& each : threads_)
      each.join();
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  template <class F> void run(F f) { workers_.front().stack.run(f); }

  counters read_counters() const {
    counters known;
    known.steals = known.suspensions = 0;
    for (const heap_frames::worker& each : workers_) {
      *known.steals += each.steals();
      *known.suspensions += each.suspensions();
    }
    known.stack_pages = stack_pages();
    heap_.note(anonymous_pages(), *known.stack_pages);
    known.stacks = workers_.size();
    return known;
  }
  std::map<std::string, double> metrics() const {
    return {{"heap_pages", heap_.pages()},
            {"frame_pages", static_cast<double>(heap_frames::heap::pages())}};
  }

  static inline heap_frames::worker* first = nullptr; // the one that a program begins on

private:
  std::uint64_t stack_pages() const {
    std::uint64_t sum = 0;
    for (const heap_frames::worker& each : workers_)
      sum += each.stack.pages();
    return sum;
  }

  mutable grown_heap heap_;
  std::deque<heap_frames::worker> workers_;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

} // namespace bench
