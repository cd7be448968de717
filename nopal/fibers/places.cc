// SPDX-License-Identifier: MIT
// Remote queues, and which vprocs a computation was given.
#include "nopal/fibers/places.h"

#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/park.h"
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

base::spin_lock provision_lock;

computation& current_computation() noexcept {
  fiber_context* const caller = sched::current_context();
  NOPAL_ASSERT(caller != nullptr,
               "a vproc was provisioned or released outside nopal::run, where there is no "
               "computation to give it to");
  return *caller->computation;
}

// Spares come after those that were asked for. An arena has the waiting thread's place alone.
std::uint32_t pool_places(const group* of) noexcept {
  std::uint32_t count = 0;
  if (of->closed)
    return 0;
  while (count < vproc::pool_size() && !vproc::pool_vproc(count)->spare.get())
    ++count;
  return count;
}

vproc::vproc* place_of(const group* of, std::size_t number) noexcept {
  return number == 0 ? of->host : vproc::pool_vproc(static_cast<std::uint32_t>(number) - 1);
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

void migrate_to(vproc::vproc* at) noexcept {
  if (!vproc::on_strand() || at == host())
    return;
  sched::park([at](fiber* strand) {
    vproc::enqueue_on(at, strand);
    return signal::stop();
  });
}

void pin(fiber* unborn, vproc::vproc* at) noexcept { unborn->context->pinned = at; }

vproc::vproc* provision_for(computation& of) noexcept {
  const auto at = [&of](std::size_t number) { return place_of(of.group, number); };
  const std::size_t number = of.given.take(provision_lock, 1 + pool_places(of.group), at);
  return number == of.given.none ? nullptr : at(number);
}

vproc::vproc* provision() noexcept { return provision_for(current_computation()); }

void release(vproc::vproc* given) noexcept {
  computation& of = current_computation();
  bool had = false;
  for (std::uint32_t number = 0; number < 1 + pool_places(of.group) && !had; ++number)
    had = place_of(of.group, number) == given && of.given.give_back(provision_lock, number, given);
  NOPAL_ASSERT(had, "a vproc was released that this computation had not been given");
}

void release_all(computation& ended) noexcept {
  if (!ended.given.any())
    return;
  for (std::uint32_t number = 0; number < 1 + pool_places(ended.group); ++number)
    ended.given.give_back(provision_lock, number, place_of(ended.group, number));
}

} // namespace nopal::inline NOPAL_ABI::fibers
