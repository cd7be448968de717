// SPDX-License-Identifier: MIT
// Migration to another vproc, and the vprocs that a computation has provisioned.
#include "nopal/fibers/places.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/park.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/table.h"

namespace nopal::inline NOPAL_ABI::fibers {

using vproc::computation;
using vproc::fiber;
using vproc::fiber_context;
using vproc::group;
using vproc::signal;
using vproc::worker;

namespace {

base::spin_lock provision_lock; // guards what all computations have provisioned

NOPAL_IN_CHILD([]() noexcept { provision_lock.begin_anew(); });

computation& current_computation() noexcept {
  fiber_context* const caller = sched::current_context();
  NOPAL_ASSERT(caller != nullptr,
               "a vproc was provisioned or released outside nopal::run, where there is no "
               "computation to give it to");
  return *caller->computation;
}

// The pool's places of a group. Spares, which come last in the table, are none. An arena has only
// the waiting thread's place.
std::uint32_t pool_places(const group* strands) noexcept {
  std::uint32_t count = 0;
  if (strands->closed)
    return 0;
  while (count < vproc::pool_size() && !vproc::pool_vproc(count)->spare.get())
    ++count;
  return count;
}

vproc::vproc* place_of(const group* strands, std::size_t number) noexcept {
  return number == 0 ? strands->host : vproc::pool_vproc(static_cast<std::uint32_t>(number) - 1);
}

} // namespace

vproc::vproc* host() noexcept {
  const worker* const self = vproc::current();
  return vproc::is_worker(self) ? self->host : nullptr;
}

std::uint32_t places() noexcept {
  return host() == nullptr ? 0 : 1 + pool_places(vproc::current()->group);
}

vproc::vproc* place_at(std::uint32_t number) noexcept {
  return number < places() ? place_of(vproc::current()->group, number) : nullptr;
}

// The strand parks, and is made ready in the other vproc's queue at once.
void migrate_to(vproc::vproc* at) {
  sched::stop_if_told();
  if (!vproc::on_strand() || at == host())
    return;
  sched::park([at](fiber* strand) {
    vproc::enqueue_on(at, strand);
    return signal::stop();
  });
}

void pin(fiber* new_fiber, vproc::vproc* at) noexcept { new_fiber->context->pinned = at; }

vproc::vproc* provision_for(computation& taker) noexcept {
  const auto at = [&taker](std::size_t number) { return place_of(taker.group, number); };
  const std::size_t number =
      taker.provisioned.take(provision_lock, 1 + pool_places(taker.group), at);
  return number == taker.provisioned.none ? nullptr : at(number);
}

vproc::vproc* provision() noexcept { return provision_for(current_computation()); }

void release(vproc::vproc* released) noexcept {
  computation& owner = current_computation();
  bool had = false;
  for (std::uint32_t number = 0; number < 1 + pool_places(owner.group) && !had; ++number)
    had = place_of(owner.group, number) == released &&
          owner.provisioned.give_back(provision_lock, number, released);
  NOPAL_ASSERT(had, "a vproc was released that this computation had not been given");
}

// No fiber is left, so nobody provisions for this computation meanwhile, and `any` needs no lock.
void release_all(computation& ended) noexcept {
  if (!ended.provisioned.any())
    return;
  for (std::uint32_t number = 0; number < 1 + pool_places(ended.group); ++number)
    ended.provisioned.give_back(provision_lock, number, place_of(ended.group, number));
}

} // namespace nopal::inline NOPAL_ABI::fibers
