// SPDX-License-Identifier: MIT
// How a strand hands a value to another one, or waits until it can (sync/rendezvous.h).
#pragma once

#include "nopal/config.h"
#include "nopal/sync/rendezvous.h"
#include "nopal/vproc/fiber.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

using vproc::fiber;
using vproc::signal;

using meeting_place = sync::rendezvous<vproc::fiber>;
using sync::side;

// One send or receive that a strand offers at one place.
struct alternative {
  meeting_place* at;
  side wants;
  // Moves the value between the senders' and the receivers' `offer::value`.
  void (*move)(void* from, void* to) noexcept;
  sync::offer<vproc::fiber> own{};
  alternative* next_locked = nullptr; // of the same choice, in the order of the places' addresses
};

inline constexpr std::size_t none_possible = ~std::size_t{0};

// Does one of the alternatives, and returns its number. Among those that are possible at once the
// choice is random. If none is, it waits for the first that becomes possible, or, if it may not
// wait, returns none_possible. Throws `cancelled`, and has done none, if the strand is cancelled
// before that or while it waits. Any thread.
std::size_t do_one(alternative* choices, std::size_t count, bool may_wait);

// Precondition, checked: no strand waits there.
void check_nobody_waits(const meeting_place& at) noexcept;

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
