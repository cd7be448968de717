// SPDX-License-Identifier: MIT
// A stack of its own for a computation, of which the pages that it has touched can be counted.
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

namespace bench {

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
  static inline thread_local std::function<void()> running;
  std::size_t page_;
  void* memory_;
};

} // namespace bench
