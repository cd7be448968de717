// SPDX-License-Identifier: MIT
// The serial elision that tells two figures, fork depth and serial stack pages, of the bounds on
// space.
//
// D is the largest number of frames with an open scope on any path of calls; S1 is how many pages
// of a stack of its own the run has touched (fibril-spaa16, 4.4). Every task stays a call, as in
// the forking programs; its time is no baseline.
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/harness.h"

#if defined(__clang__)
#define BENCH_TASK [[gnu::noinline]] static
#else
#define BENCH_TASK [[gnu::noinline, gnu::noclone]] static
#endif
#define BENCH_SCOPE(s) const bench::counted_scope s
#define BENCH_FORK(s, result, fn, ...) (result) = fn(__VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...) fn(__VA_ARGS__)
#define BENCH_JOIN(s) static_cast<void>(s)

namespace bench {

class counted_scope {
public:
  counted_scope() { deepest = std::max(deepest, ++open); }
  ~counted_scope() { --open; }
  counted_scope(const counted_scope&) = delete;
  counted_scope& operator=(const counted_scope&) = delete;

  static inline std::uint64_t open = 0;
  static inline std::uint64_t deepest = 0;
};

// A stack whose pages are untouched until something runs on it.
class counted_stack {
public:
  counted_stack() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    // A huge page would count as hundreds.
    if (memory_ == MAP_FAILED || madvise(memory_, bytes, MADV_NOHUGEPAGE) != 0)
      throw std::runtime_error("the stack to be counted could not be had");
  }
  ~counted_stack() { munmap(memory_, bytes); }
  counted_stack(const counted_stack&) = delete;
  counted_stack& operator=(const counted_stack&) = delete;

  // Runs f on this stack, from its top, on pages that have not been touched before.
  void run(std::function<void()> f) {
    if (madvise(memory_, bytes, MADV_DONTNEED) != 0)
      throw std::runtime_error("the stack to be counted could not be emptied");
    running = std::move(f);
    ucontext_t inside{};
    ucontext_t outside{};
    if (getcontext(&inside) != 0)
      throw std::runtime_error("getcontext failed");
    inside.uc_stack.ss_sp = memory_;
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &outside;
    makecontext(&inside, [] { running(); }, 0);
    if (swapcontext(&outside, &inside) != 0)
      throw std::runtime_error("swapcontext failed");
  }

  std::uint64_t pages() const {
    std::vector<unsigned char> resident(bytes / page_);
    if (mincore(memory_, bytes, resident.data()) != 0)
      throw std::runtime_error("mincore failed");
    return static_cast<std::uint64_t>(
        std::count_if(resident.begin(), resident.end(), [](auto byte) { return byte & 1; }));
  }

private:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  static inline std::function<void()> running;
  std::size_t page_;
  void* memory_;
};

class runtime {
public:
  static constexpr bool parallel = false;
  explicit runtime(unsigned) {}
  template <class F> void run(F f) {
    counted_scope::deepest = 0;
    stack_.run(f);
  }
  counters read_counters() const {
    counters known;
    known.depth = counted_scope::deepest;
    known.serial_pages = stack_.pages();
    return known;
  }

private:
  counted_stack stack_;
};

} // namespace bench
