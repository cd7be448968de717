// SPDX-License-Identifier: MIT
// Places: the vprocs as a program sees them (nopal/vprocs.h).
//
// The places of a strand are the pool's vprocs, less the spares, and the vproc whose thread waits
// for the strand's group. Each has a number: 0 is the waiting thread's, i the pool's i - 1. A fiber
// that is enqueued on a vproc lies in its remote queue, from where that vproc alone takes it,
// before all else. A vproc that is bound to another group takes it when that group has ended.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/fiber.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

// Of the calling strand; 0 elsewhere, too.
std::uint32_t places() noexcept;
// Null: the number is too high, or the calling thread runs no strand.
vproc::vproc* place_at(std::uint32_t number) noexcept;
// On which the caller runs now; null: it is no strand.
vproc::vproc* host() noexcept;

// The calling strand goes on on this vproc alone, until it waits.
void migrate_to(vproc::vproc* at) noexcept;
// Whenever the fiber is ready, it is so on this vproc alone.
void pin(vproc::fiber* unborn, vproc::vproc* at) noexcept;

// For the caller's computation: a vproc that it has not been given yet, of these the one that the
// fewest computations have been given; null: it has been given all. Ends the program with a
// sentence outside of nopal::run.
vproc::vproc* provision() noexcept;
void release(vproc::vproc* given) noexcept;
vproc::vproc* provision_for(vproc::computation& of) noexcept;
// The computation has ended.
void release_all(vproc::computation& ended) noexcept;

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
