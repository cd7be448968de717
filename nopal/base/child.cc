// SPDX-License-Identifier: MIT
// The number of forks is counted in each child, before fork() returns there.
#include "nopal/base/child.h"

#include "nopal/base/atomic.h"

#include <pthread.h>

namespace nopal::base {
namespace {

// Relaxed: the child has one thread when it is written.
constinit atomic<std::uint32_t> behind{0};

[[gnu::constructor]] void count_forks() noexcept {
  pthread_atfork(nullptr, nullptr, [] { behind.fetch_add(1, relaxed); });
}

} // namespace

std::uint32_t forks_behind() noexcept { return behind.load(relaxed); }

} // namespace nopal::base
