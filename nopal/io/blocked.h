// SPDX-License-Identifier: MIT
// How a thread that runs no strands waits for a descriptor: by poll(2), which its bell ends if the
// descriptor is closed meanwhile (own.h).
#pragma once

#include "nopal/config.h"
#include "nopal/io/table.h"

#include <chrono>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

// Whether it is ready within so many milliseconds, by poll(2). Throws std::system_error.
bool poll_one(int descriptor, direction where, int timeout_ms);

// Waits until it is ready, or more has happened than `seen`; false: the time came first.
bool block(int descriptor, entry& own, direction where, std::uint32_t seen,
           std::chrono::steady_clock::time_point until);

// Wakes the threads that wait so. Called after it was counted that something has happened.
void wake_threads(entry& own) noexcept;

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
