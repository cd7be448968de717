// SPDX-License-Identifier: MIT
// How Nopal is started, and what it counts, for each backend that runs on it.
#pragma once

#include <nopal/runtime.h>

#include "bench/harness.h"
#include "tools/census.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

class nopal_runtime {
public:
  static constexpr bool parallel = true;
  explicit nopal_runtime(unsigned workers) {
    nopal::options asked;
    asked.num_workers = workers;
    nopal::configure(asked);
    // Live and dead pages are counted; the time then says nothing.
    const char* const wish = std::getenv("BENCH_CENSUS");
    const std::string_view counts = wish == nullptr ? "0" : wish;
    if (counts != "0" && counts != "1")
      throw std::invalid_argument("BENCH_CENSUS is \"" + std::string(counts) +
                                  "\", but it must be 0 or 1");
    if (counts == "1")
      census::start();
  }
  counters read_counters() const {
    const nopal::statistics now = nopal::stats();
    return {now.steals,      now.suspensions, now.unmaps,          now.stacks,
            now.stack_pages, now.page_counts, census::live.most(), census::dead.most()};
  }
};

} // namespace bench
