// SPDX-License-Identifier: MIT
// The states that are free, and those that never were used.
#include "nopal/join/scope_state.h"

#include "nopal/base/check.h"
#include "nopal/base/free_list.h"
#include "nopal/base/os.h"

#include <algorithm>
#include <new>

namespace nopal::inline NOPAL_ABI::join {
namespace {

scope_state* states = nullptr;
std::size_t number_of_states = std::size_t{1} << 20; // 128 MiB of addresses
base::free_list free_states;

} // namespace

void open_states() noexcept {
  const std::size_t room = base::address_space_left() / 16;
  number_of_states = std::min(number_of_states, room / sizeof(scope_state));
  states = static_cast<scope_state*>(base::map_zeroed(number_of_states * sizeof(scope_state)));
  NOPAL_ASSERT(states != nullptr, "no memory for a table of %zu scopes", number_of_states);
  free_states.open(states, sizeof(scope_state));
}

scope_state* take_state() noexcept {
  std::uint32_t number = free_states.take();
  if (number == base::free_list::none)
    number = free_states.create(number_of_states);
  NOPAL_ASSERT(number != base::free_list::none,
               "%zu scopes have children that another thread knows of, more than the limit on "
               "virtual memory allows; raise it (ulimit -v)",
               number_of_states);
  scope_state* const state = &states[number];
  new (&state->join) wait_free;
  state->failures = nullptr;
  state->stops = 0;
  state->first_failure.store(no_failure, base::relaxed);
  return state;
}

void return_state(scope_state* unused) noexcept {
  free_states.put(static_cast<std::uint32_t>(unused - states));
}

} // namespace nopal::inline NOPAL_ABI::join
