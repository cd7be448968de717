// SPDX-License-Identifier: MIT
// Nopal on workers that are processes, each with one linear stack: the library that programs are
// linked with makes them so. This tells besides how often views changed, and in how many calls.
#pragma once

#include <nopal/stack/view.h>

#include "bench/backend/nopal_forks.h"
#include "bench/backend/nopal_runtime.h"

#include <map>
#include <string>

#define BENCH_TASK static

namespace bench {

class runtime : public nopal_runtime {
public:
  using nopal_runtime::nopal_runtime;
  template <class F> void run(F f) { f(); }

  // All since the program began, of all processes.
  std::map<std::string, double> told() const {
    const auto views = nopal::stack::view::counted();
    return {{"view_shows", static_cast<double>(views.shows)},
            {"view_maps", static_cast<double>(views.maps)},
            {"view_steals", static_cast<double>(nopal::stats().steals)}};
  }
};

} // namespace bench
