// SPDX-License-Identifier: MIT
// Places: the vprocs as a program sees them (nopal/vprocs.h).
//
// The places of a strand are the pool's vprocs, less the spares, and the vproc whose thread waits
// for the strand's group. Each has a number: 0 is the waiting thread's, i the pool's i - 1. A fiber
// that is enqueued on a vproc lies in its remote queue, from where that vproc alone takes it,
// before all else, as a rule. A vproc that is bound to another group takes it when that has ended.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/fiber.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

// The number of places of the calling strand; 0 on a thread that runs no strand.
std::uint32_t places() noexcept;
// The calling strand's place of this number; null: it has none.
vproc::vproc* place_at(std::uint32_t number) noexcept;
// The vproc on which the calling strand runs now; null: the caller is no strand.
vproc::vproc* host() noexcept;

// The calling strand goes on on this vproc, and on no other until it waits; or throws `cancelled`.
void migrate_to(vproc::vproc* at);
// Only this vproc may run the new fiber.
void pin(vproc::fiber* new_fiber, vproc::vproc* at) noexcept;

// Provisions a vproc for the caller's computation: one that it has not got yet, and of these the
// one that the fewest computations have. Null: it has all. Precondition, checked: the caller is in
// a computation.
vproc::vproc* provision() noexcept;
void release(vproc::vproc* released) noexcept;
vproc::vproc* provision_for(vproc::computation& taker) noexcept;
// Called when the computation has ended.
void release_all(vproc::computation& ended) noexcept;

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
