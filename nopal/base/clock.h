// SPDX-License-Identifier: MIT
// Clocks, durations and points in time. The standard's <mutex> declares them for std::timed_mutex;
// <chrono> has calendars and streams besides, and takes four times as long to compile.
#pragma once

#include "nopal/config.h"

#include <mutex>
