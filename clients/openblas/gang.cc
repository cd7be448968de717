// SPDX-License-Identifier: MIT
// Runs the parallel parts of OpenBLAS, version 0.3.28 or later, on Nopal. A program links this
// file, or loads it by LD_PRELOAD, and does not change.
//
// The jobs of a product of matrices wait for each other, spinning: each needs the parts that others
// have packed. So all of them have to run at the same time, a gang, each on a thread of its own, or
// none of them ends. Nopal promises no such thing of forks: as many workers as jobs are not enough,
// since the others may be in other work, and that may wait for this product. A job that is in
// `blocking` lends its place, so a spare thread takes the open fork of the next job, and so on to
// the last. So the gang gets its threads from no other computation, as long as NOPAL_MAX_BLOCKING,
// 256, is not below the number of all jobs that run.
//
// A spare takes other work too, and must not be lost in it: a second product waits in a lock of
// OpenBLAS's, with its thread. So strands call OpenBLAS one at a time, under a nopal::mutex, or in
// nopal::blocking. Threads that run no strand just call it.
//
// The jobs' numbers choose OpenBLAS's buffers. So there is one gang at a time.
#include "nopal/affine.h"
#include "nopal/blocking.h"
#include "nopal/fork.h"
#include "nopal/mutex.h"

#include <cstddef>
#include <mutex>

// What OpenBLAS declares, with the prefix of its symbols, if it has one.
#if !defined(OPENBLAS_SYMBOL)
#define OPENBLAS_SYMBOL(name) name
#endif
using run_job = void (*)(int number, void* job, int buffer);
using run_jobs = void (*)(int waits, run_job run, int count, std::size_t size, void* jobs,
                          int buffer);
extern "C" [[gnu::weak]] void OPENBLAS_SYMBOL(openblas_set_threads_callback_function)(run_jobs);

namespace {

nopal::mutex gangs;

void run_gang(int, run_job run, int count, std::size_t size, void* jobs, int buffer) {
  const auto job = [=](int number) {
    run(number, static_cast<char*>(jobs) + static_cast<std::size_t>(number) * size, buffer);
  };
  nopal::affine([&] {
    const std::lock_guard only{gangs};
    nopal::scope s;
    for (int number = 0; number + 1 < count; ++number)
      s.fork([&job, number] { nopal::blocking([&] { job(number); }); });
    job(count - 1);
    s.join();
  });
}

[[gnu::constructor]] void choose() {
  if (&OPENBLAS_SYMBOL(openblas_set_threads_callback_function) != nullptr)
    OPENBLAS_SYMBOL(openblas_set_threads_callback_function)(run_gang);
}

} // namespace
