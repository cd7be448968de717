// SPDX-License-Identifier: MIT
// How many pages a program's memory grows by while it computes, without its stacks': what a runtime
// asks for at its start does not count, nor does what the input takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

namespace bench {

// Pages of memory that no file has, of this process. Exact, as VmRSS is not.
inline std::uint64_t anonymous_pages() {
  std::ifstream sums("/proc/self/smaps_rollup");
  std::string word;
  std::uint64_t kib = 0;
  while (sums >> word)
    if (word == "Anonymous:" && sums >> kib)
      return kib / 4;
  throw std::runtime_error("/proc/self/smaps_rollup has no line Anonymous:");
}

class grown_heap {
public:
  // Before the computation, and after it: pages of all memory, and those of stacks among them.
  void note(std::uint64_t all, std::uint64_t of_stacks) {
    before_ = now_;
    now_ = all - of_stacks;
  }
  double pages() const { return static_cast<double>(std::max(now_, before_) - before_); }

private:
  std::uint64_t before_ = 0;
  std::uint64_t now_ = 0;
};

} // namespace bench
