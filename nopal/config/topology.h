// SPDX-License-Identifier: MIT
// The order in which workers are bound to CPUs, and the binding itself.
#pragma once

#include "nopal/config.h"

#include <pthread.h>

#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

// Orders the CPUs of an affinity mask in rounds: the first has one CPU of each physical core, the
// second another one of each, and so on. In a round all CPUs of one package come before those of
// the next, so that neighbouring workers share caches. Reads /sys below `root`, as in cpus.h; where
// a file is missing or damaged, the order is that of the mask.
std::vector<int> bind_order(const std::vector<int>& affinity, const std::string& root = "");

// Lets a thread run on these CPUs only, at least one. Returns 0 or the error. For any thread.
[[nodiscard]] int bind_thread(pthread_t thread, const std::vector<int>& cpus);

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
NOPAL_HIDDEN_END
