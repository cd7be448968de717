// SPDX-License-Identifier: MIT
// The order in which workers are bound to CPUs, and the binding itself.
#pragma once

#include "nopal/config.h"

#include <pthread.h>

#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::config {

// Orders the CPUs of an affinity mask: first one CPU of each physical core, then the second of
// each, and so on; in each round, all CPUs of one package before those of the next, so that
// neighbouring workers share caches. Reads /sys below `root`, as in cpus.h. Where that does not
// tell, the order is that of the mask.
std::vector<int> bind_order(const std::vector<int>& affinity, const std::string& root = "");

// Lets a thread run on these CPUs only. Returns the kernel's error, or 0.
[[nodiscard]] int bind_thread(pthread_t thread, const std::vector<int>& cpus);

} // namespace nopal::config
NOPAL_HIDDEN_END
