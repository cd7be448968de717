// SPDX-License-Identifier: MIT
// The filter that traps system calls of this program. Programs that it executes inherit the filter,
// so only calls from addresses are trapped where such a program has no code.
#pragma once

#include "nopal/config.h"

#include <cstdint>
#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

struct text_range {
  std::uintptr_t from, to;
};
inline constexpr unsigned most_text_ranges = 128;

// 0, or the error: the kernel or a sandbox refuses filters.
int install_filter(std::span<const text_range> text) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
