// SPDX-License-Identifier: MIT
// How Nopal is started, and what it counts, for each backend that runs on it.
#pragma once

#include <nopal/runtime.h>
#include <nopal/vproc/settings.h>

#include "bench/harness.h"
#include "tools/census.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

// Whether a variable of the environment asks for something: 1, or 0, which is the default.
inline bool wished(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  const std::string_view wish = value == nullptr ? "0" : value;
  if (wish != "0" && wish != "1")
    throw std::invalid_argument(name + " is \"" + std::string(wish) + "\", but it must be 0 or 1");
  return wish == "1";
}

class nopal_runtime {
public:
  static constexpr bool parallel = true;
  explicit nopal_runtime(unsigned workers) {
    nopal::options asked;
    asked.num_workers = workers;
    nopal::configure(asked);
    // In both cases the time says nothing: live and dead pages are counted, forks wait for thieves.
    if (wished("BENCH_CENSUS"))
      census::start();
    if (wished("BENCH_FORCED"))
      nopal::vproc::force_steals(1);
  }
  counters read_counters() const {
    const nopal::statistics now = nopal::stats();
    return {now.steals,      now.suspensions, now.unmaps,          now.stacks,
            now.stack_pages, now.page_counts, census::live.most(), census::dead.most()};
  }
};

} // namespace bench
