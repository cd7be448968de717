// SPDX-License-Identifier: MIT
// What stack.cc and pages.cc know of each other.
#pragma once

#include "nopal/stack/stack.h"

namespace nopal::stack {

// stack.cc
std::uint32_t created_stacks() noexcept;
stack_id stack_number(std::size_t number) noexcept;
void push_pool(stack_id stack) noexcept; // the caller has retired it

// pages.cc
void open_book(std::size_t stacks, std::size_t budget_bytes) noexcept;

} // namespace nopal::stack
