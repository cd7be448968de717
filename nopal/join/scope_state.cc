// SPDX-License-Identifier: MIT
// The table of states. It grows as numbers are created, and never shrinks; free states are listed.
#include "nopal/join/scope_state.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/free_list.h"
#include "nopal/base/growing.h"
#include "nopal/base/limits.h"

#include <algorithm>
#include <new>

namespace nopal::inline NOPAL_ABI::join {
namespace {

base::growing states;
std::size_t number_of_states = std::size_t{1} << 20; // 192 MiB of addresses
base::free_list free_states;

// Number n is the n-th state of the table. Its first word is its link in `free_states`.
scope_state* all_states() noexcept { return static_cast<scope_state*>(states.start()); }

std::uint32_t new_state() noexcept {
  const std::uint32_t number = free_states.create(number_of_states);
  if (number == base::free_list::none) {
    const char* const limit = base::what_limits_addresses();
    base::die("%zu scopes have children that another thread knows of, more than %s allows",
              number_of_states, limit != nullptr ? limit : "their table");
  }
  NOPAL_ASSERT(states.reach((number + 1) * sizeof(scope_state)),
               "the kernel refused memory for a table of %u scopes: %s", number + 1,
               base::why_refused(base::growing::piece).text);
  return number;
}

} // namespace

// In the child of fork() the table stays: the thread that forked may have a scope in it, and of the
// parent's other threads a few states are lost.
void open_states() noexcept {
  const bool has_table = states.start() != nullptr;
  if (!has_table)
    number_of_states =
        std::min(number_of_states, base::address_space_left() / 16 / sizeof(scope_state));
  NOPAL_ASSERT(has_table || states.open(number_of_states * sizeof(scope_state)),
               "no addresses for a table of %zu scopes: %s", number_of_states,
               base::why_refused(number_of_states * sizeof(scope_state)).text);
  free_states.open(states.start(), sizeof(scope_state));
}

scope_state* take_state() noexcept {
  std::uint32_t number = free_states.take();
  if (number == base::free_list::none)
    number = new_state();
  scope_state* const state = &all_states()[number];
  new (&state->join) wait_free;
  new (&state->below) ancestor;
  state->made_in = base::this_process;
  state->failures = nullptr;
  state->stops = 0;
  state->first_failure.store(no_failure, base::relaxed);
  return state;
}

void return_state(scope_state* unused) noexcept {
  unused->below.remove();
  free_states.put(static_cast<std::uint32_t>(unused - all_states()));
}

} // namespace nopal::inline NOPAL_ABI::join
