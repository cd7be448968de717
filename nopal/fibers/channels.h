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

// One thing that a strand would do, at one place.
struct alternative {
  meeting_place* at;
  side wants;
  // Moves the value between the senders' and the receivers' `offer::value`.
  void (*move)(void* from, void* to) noexcept;
  sync::offer<vproc::fiber> own{};
  alternative* next_locked = nullptr; // all of a choice, in the order of their places' addresses
};

inline constexpr std::size_t none_possible = ~std::size_t{0};

// Does one of the alternatives, and returns its number: one that is possible at once, a random one
// of several; else it waits for the first that is, if it may. Throws `cancelled` if the strand is
// cancelled while it waits; then it has done none. Any thread.
std::size_t do_one(alternative* of, std::size_t count, bool may_wait);

// Ends the program with a sentence if a strand waits there.
void check_nobody_waits(const meeting_place& at) noexcept;

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
