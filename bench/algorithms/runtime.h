// SPDX-License-Identifier: MIT
// The threads of the runtime that a program is compiled for, and its loop without a grain.
#pragma once

#include <cstddef>

#if defined(BENCH_NOPAL)
#include <nopal/loop.h>
#include <nopal/runtime.h>
#elif defined(BENCH_TBB)
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#else
#include <omp.h>
#endif

namespace bench {

#if defined(BENCH_NOPAL)

class own_threads {
public:
  explicit own_threads(unsigned workers) { nopal::configure({.num_workers = workers}); }
};

template <class Body>
void parallel_loop(std::size_t count, const Body& body, std::size_t grain = 0) {
  nopal::for_index(std::size_t{0}, count, body, grain);
}

#elif defined(BENCH_TBB)

class own_threads {
public:
  explicit own_threads(unsigned workers)
      : most_{tbb::global_control::max_allowed_parallelism, workers} {}

private:
  const tbb::global_control most_;
};

// By the auto partitioner.
template <class Body> void parallel_loop(std::size_t count, const Body& body) {
  tbb::parallel_for(std::size_t{0}, count, body);
}

#else

class own_threads {
public:
  explicit own_threads(unsigned workers) { omp_set_num_threads(static_cast<int>(workers)); }
};

#endif

} // namespace bench
