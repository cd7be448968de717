// SPDX-License-Identifier: MIT
// Clocks, durations and points in time. libstdc++'s <mutex> declares them for std::timed_mutex;
// <chrono> has calendars and streams besides, which take long to compile.
#pragma once

#include "nopal/config.h"

#include <mutex>
