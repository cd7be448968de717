// SPDX-License-Identifier: MIT
// System calls that concern a process, and here the program.
#pragma once

#include "nopal/config.h"

#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// The numbers of the calls that call_of_process knows.
std::span<const int> calls_of_process() noexcept;

// True: `result` stands for the call. Else it is to be made as the arguments say now.
bool call_of_process(long number, long (&arguments)[6], long& result) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
