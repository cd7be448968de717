// SPDX-License-Identifier: MIT
// How a strand hands a value to another one, or waits until it can (sync/rendezvous.h).
#pragma once

#include "nopal/config.h"
#include "nopal/fibers/timed.h"
#include "nopal/sync/rendezvous.h"
#include "nopal/vproc/fiber.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

using vproc::fiber;
using vproc::signal;

using sync::side;

// What is done with the values of a strand that waits on a view (stack/view.h). Others do not see
// its places for them where it sees them, and a value may hold its own address.
struct values_aside {
  // Returns a place that all see, with what is to be sent in it.
  void* (*begin)(side wants, void* place);
  // Ends that place. `met`: the value has gone, or has come; else what was to be sent goes back.
  void (*end)(side wants, void* aside, void* place, bool met) noexcept;
};

// Where strands meet, with the slots for values that senders leave there.
struct meeting_place : sync::rendezvous<vproc::fiber> {
  meeting_place() = default;
  explicit meeting_place(const values_aside& of_values, std::size_t count, void* memory,
                         std::size_t bytes, void (*move)(void* slot, void* to) noexcept) noexcept
      : rendezvous{count}, slots{static_cast<std::byte*>(memory)}, slot_bytes{bytes},
        take_out{move}, aside{&of_values} {}

  void* slot(std::size_t number) const noexcept { return slots + number * slot_bytes; }

  // `count` times so many bytes. A slot is to a sender what a receiver's place for the value is.
  std::byte* const slots = nullptr;
  const std::size_t slot_bytes = 0;
  // Moves the value from a slot to a receiver's place.
  void (*const take_out)(void* slot, void* to) noexcept = nullptr;
  const values_aside* const aside = nullptr; // null: its values hold no addresses of their own
};

// One send or receive that a strand offers at one place.
struct alternative {
  meeting_place* at = nullptr;
  side wants = side::sending;
  // Moves the value between the senders' and the receivers' `offer::value`.
  void (*move)(void* from, void* to) noexcept = nullptr;
  sync::offer<vproc::fiber> own{};
  alternative* next_locked = nullptr; // of the same choice, in the order of the places' addresses
};

inline constexpr std::size_t none_possible = ~std::size_t{0};

// Does one of the alternatives, and returns its number; its `own.closed` says that it has met
// nobody since its place is closed, which is possible at once. Among those that are possible at
// once the choice is random. If none is, it waits for the first that becomes possible, or, if none
// does until that time, returns none_possible. Throws `cancelled`, and has done none, if the strand
// is cancelled before that or while it waits. Any thread.
std::size_t do_one(alternative* choices, std::size_t count, time_point until = never);

// Strands that wait there go on, without a value, and nobody waits there any more. Any thread.
void close(meeting_place& at) noexcept;

// Precondition, checked: no strand waits there.
void check_nobody_waits(const meeting_place& at) noexcept;

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
